/** The problem of an inconsistent object, and what to do. What does not do what it declares has a reason that says it. Pure. In: an object of
 *  `list_objects`. Out: sentences. */

/** Returns the reason of the engine without its first words, which the heading has. */
export function reasonOf({ reason }) {
  const text = reason.replace(/^Inconsistent object: /, '');
  return text[0].toUpperCase() + text.slice(1);
}

export function adviceFor({ key, away, served, nearest, path, isConsistent, more = [] }) {
  if (isConsistent) return [];
  const sentences = [
    away &&
      'The engine tries again by itself. Check the address, the network and the credentials if it stays so.',
    served && 'The object is served without this part.',
    nearest && `Did you mean ${listed(nearest)}?`,
    path && `Look at ${pathText(path)} of its definition.`,
    ...more.map(
      ({ reason, nearest: others }) => `${reason}${others ? ` (did you mean ${listed(others)}?)` : ''}`,
    ),
    !away && !served && (nearest || path ? REMOVE : CHANGE),
    key?.startsWith('select_permission/') && 'Until then the role cannot read the table.',
  ];
  return sentences.filter(Boolean);
}

const CHANGE =
  'Change its definition or create what it names; reload the metadata after a change of the database. Otherwise remove the object.';
const REMOVE = 'If it is no longer needed, remove the object.';

function listed(names) {
  return names.map((name) => `"${name}"`).join(' or ');
}

function pathText(path) {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${step}`))
    .join('');
}
