/** MetadataBundle: metadata in the format of the engine, as whole documents or single objects. It is the way from a metadata directory to
 *  resources, and covers what no other kind can express.
 *  An object that both a bundle and another resource define is a conflict, as between any two resources. */
import {
  ancestry,
  EngineError,
  isRecord,
  type MetadataObject,
  nearestNames,
  nearestText,
  OBJECT_KINDS,
  OBJECTS,
  objectsOf,
  parentKeyOf,
  parseKey,
  parseMetadata,
  printPath,
  type Static,
  secret,
  Type,
  YAML_SCHEMA,
} from '@pergola/engine/metadata';
import { load, YAMLException } from 'js-yaml';
import { closed, keyedList, OPEN_OBJECT, type Rule } from './annotate.ts';
import { kindRow, SpecProblem, specOf, type TranslateContext } from './kind.ts';
import { optional, required } from './mapping.ts';
import { exceededLimit } from './validate.ts';
import { ConfigMapKeyRef } from './value-source.ts';

// Documents have various forms, and each may have secrets.
const Document = secret(Type.Unsafe<Readonly<Record<string, unknown>>>(OPEN_OBJECT));
const Key = Type.String({ minLength: 1, maxLength: 2048 });

const SOMETHING: Rule = {
  rule: 'has(self.from) || has(self.metadata) || has(self.objects)',
  message: 'spec: a bundle without from, metadata and objects holds nothing; add one',
  holds: (spec) => 'from' in spec || 'metadata' in spec || 'objects' in spec,
};

export const MetadataBundleSpec = specOf(
  {
    from: optional(
      'Documents in ConfigMaps, as JSON or YAML. A large document may be split into several.',
      Type.Array(
        { ...closed({ configMapKeyRef: ConfigMapKeyRef }), 'x-kubernetes-map-type': 'atomic' },
        { maxItems: 100, 'x-kubernetes-list-type': 'atomic' },
      ),
    ),
    metadata: optional(
      'A document of version 3, as export_metadata returns it, or a part of one, such as {query_collections: […]}.',
      Document,
    ),
    objects: optional(
      'Single objects by key, as messages and plans name them: api_limits, native_query/default/overdue.',
      keyedList(
        'key',
        closed({
          key: required('The key of the object, for example inherited_role/staff.', Key),
          definition: required('The object as the metadata has it.', Document),
        }),
      ),
    ),
    exclude: optional(
      'Objects to leave out, with all nested objects, by kind and name: table, default/public/author.',
      keyedList(
        ['kind', 'name'],
        closed({
          kind: required(
            'The kind of the object, for example table.',
            Type.String({ minLength: 1, maxLength: 63 }),
          ),
          name: required(
            'Its names, the parent’s first, for example default/public/author. Empty for api_limits and the like.',
            Type.String({ maxLength: 2048 }),
          ),
        }),
      ),
    ),
  },
  SOMETHING,
);
type MetadataBundleSpec = Static<typeof MetadataBundleSpec>;

export const metadataBundle = kindRow({
  kind: 'MetadataBundle',
  shortNames: ['gqlmb'],
  concerns: 'engine',
  description: 'Metadata in the format of the engine, as documents or single objects.',
  spec: MetadataBundleSpec,
  selectableFields: ['.spec.engineRef.name'],
  target: (spec) =>
    Object.keys(spec)
      .filter((key) => PARTS.has(key))
      .join(', '),
  // Objects of documents have no field: documents have various forms.
  fieldAt: ({ objects = [] }, { key }, path) => {
    const index = objects.findIndex((object) => object.key === key);
    return index < 0 ? undefined : `spec.objects[${index}].definition${printPath(path).slice(1)}`;
  },
  translate: (spec, context) => {
    checkExclusions(spec.exclude ?? []);
    const documents = [
      ...(spec.from ?? []).map(({ configMapKeyRef }, i) => ({
        path: `spec.from[${i}]`,
        document: documentIn(configMapKeyRef, `spec.from[${i}]`, context),
      })),
      ...(spec.metadata ? [{ path: 'spec.metadata', document: spec.metadata }] : []),
    ];
    const objects = documents.flatMap(({ path, document }) => objectsIn(document, path));
    return [...objects, ...(spec.objects ?? []).map(objectOf)].filter(isKept(spec.exclude ?? []));
  },
});

const PARTS = new Set(['from', 'metadata', 'objects']);

function documentIn(
  configMapKeyRef: Static<typeof ConfigMapKeyRef>,
  path: string,
  context: TranslateContext,
): unknown {
  const text = context.valueFrom({ configMapKeyRef }, path);
  try {
    const document = load(String(text), { schema: YAML_SCHEMA });
    const excess = exceededLimit(document);
    if (excess) throw new SpecProblem('InvalidSpec', `${path}: the document ${excess}`);
    return document;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new SpecProblem('InvalidSpec', `${path}: the document cannot be read: ${error.reason}`);
  }
}

function objectsIn(document: unknown, path: string): readonly MetadataObject[] {
  try {
    return [...objectsOf(parseMetadata(wholeDocument(document))).values()];
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new SpecProblem('InvalidSpec', `${path}: ${error.messageIn('newer')} at ${printPath(error.path)}`);
  }
}

/** Returns the document with its list of sources, which a document of this version must have. Documents of a bundle are parts, and may have
 *  custom types alone, for example. A document with `tables` is of an older version. */
function wholeDocument(document: unknown): unknown {
  const isPart = isRecord(document) && !('sources' in document || 'tables' in document);
  return isPart ? { ...document, sources: [] } : document;
}

function objectOf({
  key,
  definition,
}: {
  readonly key: string;
  readonly definition: unknown;
}): MetadataObject {
  const identity = parseKey(key);
  if (!identity) {
    throw new SpecProblem(
      'InvalidSpec',
      `spec.objects: ${key} is no key of an object; write its kind and its names, the parent’s first: table/default/public/author`,
    );
  }
  return { key, kind: identity.kind, parent: parentKeyOf(key), definition };
}

type Exclusions = NonNullable<MetadataBundleSpec['exclude']>;

/** Raises SpecProblem for an exclusion that no object can have: of an unknown kind, or with too few names. */
function checkExclusions(excluded: Exclusions): void {
  for (const [i, { kind, name }] of excluded.entries()) {
    const known = OBJECT_KINDS.find((candidate) => candidate === kind);
    if (known === undefined) {
      const nearest = nearestText(nearestNames(kind, OBJECT_KINDS));
      throw new SpecProblem('InvalidSpec', `spec.exclude[${i}].kind: there is no kind ${kind}${nearest}`);
    }
    const width = ancestry(known).reduce((sum, step) => sum + OBJECTS[step].identity.width, 0);
    // A name may contain slashes.
    const isPossible = name === '' ? width === 0 : width > 0 && name.split('/').length >= width;
    if (!isPossible) {
      const names = ['no name', '1 name'][width] ?? `${width} names, the parent’s first`;
      throw new SpecProblem(
        'InvalidSpec',
        `spec.exclude[${i}].name: a key of ${kind} has ${names}, and this is ${JSON.stringify(name)}`,
      );
    }
  }
}

function isKept(excluded: Exclusions): (object: MetadataObject) => boolean {
  const names = new Set(excluded.map(({ kind, name }) => `${kind} ${name}`));
  const isNamed = (key: string): boolean => {
    const { kind, segments = [] } = parseKey(key) ?? {};
    const parent = parentKeyOf(key);
    return names.has(`${kind} ${segments.join('/')}`) || (parent !== null && isNamed(parent));
  };
  return ({ key }) => !isNamed(key);
}
