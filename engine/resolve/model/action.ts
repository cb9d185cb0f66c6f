/** An action of the model.
 *  Not here: the types of its arguments and result (custom-type.ts), how it is resolved (resolve/action.ts). */

import type { ResponseTransform } from '../../metadata/schema/common.ts';
import type { CustomField, TypeUse } from './custom-type.ts';
import type { ActionWebhook } from './webhook.ts';

export type ResolvedAction = {
  readonly name: string;
  readonly description: string | null;
  readonly type: 'query' | 'mutation';
  /** True when the action returns an id, and its result is read later by that id. */
  readonly isAsynchronous: boolean;
  readonly arguments: readonly CustomField[];
  readonly output: TypeUse;
  readonly webhook: ActionWebhook;
  readonly responseTransform?: ResponseTransform;
  /** The roles that may run it besides the administrator. */
  readonly roles: ReadonlySet<string>;
};
