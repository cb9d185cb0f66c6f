/** Why a change is held back, as the ends of sentences. Pure. Not here: which changes are (hold-back.ts), access in words (decide/access.ts). */
import { type AccessOperation, wideningParts } from '@pergola/engine/metadata';
import { lossText, partsText, rolesText } from '../decide/access.ts';
import type { Breaks, Widenings } from '../ports/admission.ts';

/** A filter or a query may be long, and the status of a resource is read by people. */
const MOST_CHARACTERS = 250;

/** The operations whose names do not say what happens to rows. */
const REACHING: ReadonlySet<AccessOperation> = new Set(['select', 'inherit', 'call']);

/** Returns the widenings as the end of a sentence: `would let role reader reach more rows of public.note: filter: id is 1 → all rows`. */
export function wideningText({ first, others }: Widenings): string {
  const { role, operation, on, isInherited } = first;
  const parts = wideningParts(first);
  const isKnown = parts.some(({ verdict }) => verdict === 'wider');
  const verb = REACHING.has(operation) ? 'reach' : operation;
  const inherited = isInherited ? ', by the roles that it inherits from' : '';
  const rows = `${verb} more rows${on === '' ? '' : ` of ${on}`}${inherited}`;
  const details = cut(partsText(parts));
  const more = others === 0 ? '' : `, and ${others} more`;
  const who = role === null ? rolesText(first) : `role ${role}`;
  return `${isKnown ? 'would' : 'may'} let ${who} ${rows}: ${details}${more}`;
}

/** Returns the breaking changes as the end of a sentence: `would break clients of role reader (Field author.name was removed)`. */
export function breaksText({ first, others, roles }: Breaks): string {
  const more = others === 0 ? '' : `, and ${others} more`;
  const also = roles === 0 ? '' : ` and of ${roles} more ${roles === 1 ? 'role' : 'roles'}`;
  return `would break clients of ${whoOf(first)}${also} (${cut(descriptionOf(first).replace(/\.$/, ''))}${more})`;
}

function whoOf(first: Breaks['first']): string {
  if ('role' in first) return `role ${first.role}`;
  return first.access.role === null ? rolesText(first.access) : `role ${first.access.role}`;
}

function descriptionOf(first: Breaks['first']): string {
  return 'role' in first ? first.description : lossText(first.access);
}

/** Returns the beginning of a long text. */
function cut(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
