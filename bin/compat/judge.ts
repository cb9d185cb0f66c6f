/** Judges a document of the reference without a database: what the engine reads as it is, what it does differently, and what has no effect.
 *  Each member of each object is known to the model or named by a finding. In: a document as written. Out: the keys of its objects, findings. Pure.
 *  Not here: what only a database shows (beside-engine.ts), the objects of the document (objects.ts). */
import { DIFFERENCES, remedyOf } from '../../engine/config/compatibility.ts';
import { isSameJson, type JsonRecord } from '../../engine/json/value.ts';
import { renamePrefix } from '../../engine/metadata/header-prefix.ts';
import {
  foreignKindOf,
  fromWire,
  normalMetadata,
  parentKeyOf,
  printPath,
  unknownKeys,
} from '../../engine/metadata/index.ts';
import { bare, type ObjectKind } from '../../engine/metadata/objects.ts';
import { unservedText } from '../../engine/metadata/schema/source.ts';
import { unenforcedIn } from '../../engine/resolve/unenforced.ts';
import type { GivenDocument } from './document.ts';

import { type GivenObject, givenObjects, ownerFinder } from './objects.ts';
import { readableParts } from './readable.ts';
import type { Finding } from './report.ts';

export type ObjectFinding = Finding & { readonly object: string };

/** The options of the engine that the metadata are judged for. */
export type Judging = {
  /** The option --header-prefix of the engine. */
  readonly headerPrefix: string;
  /** The prefix of session variables in the metadata. */
  readonly givenPrefix: string;
  /** True with the option --compatibility reference. */
  readonly isCompatible: boolean;
  /** True when a running engine says what has no effect with its options. */
  readonly hasEngine: boolean;
};

type Judgement = { readonly objects: readonly string[]; readonly findings: readonly ObjectFinding[] };

export function judge(given: GivenDocument, judging: Judging): Judgement {
  const { document, positionOf, unknownBeside, unread } = given;
  const objects = givenObjects(document);
  const ownerOf = ownerFinder(document, objects);
  return {
    objects: [...new Set(objects.map(({ key }) => key))],
    findings: [
      ...unreadable(given, objects),
      ...objects.flatMap((object) => judged(object, judging)),
      ...(judging.hasEngine ? [] : withoutEffect(document, judging)),
      ...unknownKeys(document).map((path) =>
        noEffect(ownerOf(path), 'the key is unknown and is left out', positionOf(path)),
      ),
      ...unknownBeside.map((position) =>
        noEffect(position.split(':', 1)[0]!, 'the key is unknown and is left out', position),
      ),
      ...unread.map((file) => noEffect(file, 'the file is not part of the metadata and is not read')),
    ],
  };
}

function noEffect(object: string, message: string, position = ''): ObjectFinding {
  return { object, verdict: 'no effect', position, message };
}

function differs(object: string, message: string, position = ''): ObjectFinding {
  return { object, verdict: 'differs', position, message };
}

/** Returns the objects that the model refuses, each with the reason, and the objects that are nested in them. */
function unreadable({ document }: GivenDocument, objects: readonly GivenObject[]): readonly ObjectFinding[] {
  return readableParts(document).damaged.flatMap(({ key: own, owners, index, value, cause }) => {
    const key = objects.find((object) => object.value === value)?.key ?? own;
    const member = cause.path.slice(owners.length * 2 + (index === null ? 1 : 2));
    const at = member.length === 0 ? '' : `${printPath(member)}: `;
    const nested = objects.filter((object) => isNestedIn(object.key, key));
    return [
      differs(key, `it cannot be read: ${at}${cause.message}`),
      ...nested.map((object) => differs(object.key, `${key}, which it belongs to, cannot be read`)),
    ];
  });
}

function isNestedIn(key: string, ancestor: string): boolean {
  const parent = parentKeyOf(key);
  return parent !== null && (parent === ancestor || isNestedIn(parent, ancestor));
}

/** The kinds of objects that the engine may serve otherwise. The reason is null for an object that it serves as the reference does. */
const ROWS: readonly {
  readonly kind: ObjectKind;
  readonly verdict: Finding['verdict'];
  readonly reasonFor: (value: JsonRecord, judging: Judging) => string | null;
}[] = [
  {
    kind: 'source',
    verdict: 'no effect',
    reasonFor: (source) => {
      const kind = foreignKindOf(source);
      return kind === undefined
        ? null
        : `${unservedText(kind)}; ${contentOf(source)} are kept in the metadata and are not served`;
    },
  },
  {
    kind: 'source',
    verdict: 'no effect',
    reasonFor: ({ stored_procedures: procedures, ...source }) =>
      foreignKindOf(source) === undefined && Array.isArray(procedures) && procedures.length > 0
        ? 'stored_procedures are kept in the metadata and are not served'
        : null,
  },
  {
    kind: 'source',
    verdict: 'differs',
    reasonFor: (source) =>
      foreignKindOf(source) === undefined && JSON.stringify(source['configuration'])?.includes(TOTAL)
        ? 'pool_settings.total_max_connections counts for each replica of the engine, not for all together'
        : null,
  },
  {
    kind: 'backend_configs',
    verdict: 'no effect',
    reasonFor: (configs) =>
      Object.keys(configs).length === 0
        ? null
        : 'settings of other kinds of databases are kept in the metadata and are not read',
  },
  {
    kind: 'remote_schema',
    verdict: 'differs',
    reasonFor: (_, { isCompatible }) => {
      const row = DIFFERENCES.find(({ option }) => option === 'enable-remote-schema-permissions')!;
      return isCompatible
        ? null
        : `a role has access only with a permission, and permissions are enforced (${remedyOf(row)})`;
    },
  },
];

const TOTAL = '"total_max_connections":';

/** Returns the numbers of the parts of a source: `3 tables, 1 functions`. */
function contentOf(source: JsonRecord): string {
  const lists = Object.entries(source).filter(([, value]) => Array.isArray(value));
  const counts = lists.map(([key, list]) => `${(list as readonly unknown[]).length} ${key}`);
  return counts.length === 0 ? 'its settings' : `its settings and ${counts.join(', ')}`;
}

function judged({ key, kind, value }: GivenObject, judging: Judging): readonly ObjectFinding[] {
  const { headerPrefix, givenPrefix } = judging;
  const found = ROWS.filter((row) => row.kind === kind).flatMap(({ verdict, reasonFor }) => {
    const message = reasonFor(value, judging);
    return message === null ? [] : [{ object: key, verdict, position: '', message }];
  });
  if (headerPrefix === givenPrefix || isSameVariables(bare(kind, value), givenPrefix)) return found;
  const text =
    `it names session variables ${givenPrefix}*, and those of the engine are named ${headerPrefix}*` +
    ` (--header-prefix ${givenPrefix})`;
  return [...found, differs(key, text)];
}

/** True for a value that names no session variable with the prefix. */
function isSameVariables(value: JsonRecord, prefix: string): boolean {
  return isSameJson(renamePrefix(value, prefix, 'x-engine-'), value);
}

/** Returns what the engine reports as NotEnforced with the options of the judging. */
function withoutEffect(document: JsonRecord, { headerPrefix, givenPrefix, isCompatible }: Judging) {
  const readable = readableParts(fromWire(document, givenPrefix) as JsonRecord).document;
  const options = {
    stringifyNumericTypes: false,
    headerPrefix,
    enableRemoteSchemaPermissions: !isCompatible,
    opensRemoteSchemas: isCompatible,
  };
  return unenforcedIn(normalMetadata(readable), options).map(({ key, reason }) => noEffect(key, reason));
}
