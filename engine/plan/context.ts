/** What planning one request is about: the document, its variables, and the role's access to tables. */
import { accessOf } from '../resolve/access.ts';
import { FALSE, type Predicate, type VisibleIf } from '../resolve/predicate.ts';
import type { ResolvedTable, SelectAccess, TableAccess } from '../resolve/types.ts';
import type { PreparedDocument } from './document.ts';
import type { InputContext } from './input.ts';
import type { RemoteJoin } from './join-types.ts';
import { SelectionSize } from './selection-size.ts';
import type { Call, Validation } from './types.ts';
import type { RequestVariables } from './variables.ts';

export class PlanContext implements InputContext {
  readonly document: PreparedDocument;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Webhooks to ask first, as far as they have been found. */
  readonly validations: Validation[] = [];
  /** Others to ask, finished when everything is planned. */
  readonly calls: (() => Call)[] = [];
  /** What is found elsewhere, as far as it is planned. */
  readonly joins: RemoteJoin[] = [];
  readonly #size = new SelectionSize();

  constructor(document: PreparedDocument, variables: RequestVariables) {
    this.document = document;
    this.variables = variables.values;
  }

  countFields(more: number): void {
    this.#size.count(more);
  }

  access(table: ResolvedTable): TableAccess {
    return accessOf(table, this.document.role.role);
  }

  /** Null never happens for a table the role's schema shows. */
  select(table: ResolvedTable): SelectAccess | null {
    return this.access(table).select;
  }

  /** `visibleIf` for those of the columns that the role does not see in every row; nothing where it does. */
  visibleIf(table: ResolvedTable, columns: readonly string[]): { readonly visibleIf?: VisibleIf } {
    const cells = this.select(table)?.cells.columns;
    if (!cells || cells.size === 0) return {};
    const partly = columns.flatMap((name) => {
      const condition = cells.get(name);
      return condition ? [[name, condition] as const] : [];
    });
    return partly.length === 0 ? {} : { visibleIf: Object.fromEntries(partly) };
  }

  /** Rows of the table the role may read; none when it may not read it at all. */
  filterOf(table: ResolvedTable): Predicate {
    return this.select(table)?.filter ?? FALSE;
  }
}

/** The role's schema shows a mutation only where it has the permission. */
export function notPermitted(): never {
  throw new Error('a mutation was planned that the role has no permission for');
}
