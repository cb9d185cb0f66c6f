/** The answers of an engine as the operator needs them: one schema for each operation it uses. Anything else that comes back is an
 *  UnexpectedAnswer, which says what is wrong with it.
 *  In: JSON. Out: typed answers. Pure. Not here: HTTP (client.ts), what the answers mean (pass/reconcile.ts). */
import {
  type AccessChange,
  asJsonSchema,
  EngineError,
  isOfRequests,
  isRecord,
  type Metadata,
  normalMetadata,
  printPath,
  readableDocument,
  type Static,
  type TSchema,
  Type,
  validate,
} from '@pergola/engine/metadata';
import type { AdmissionAnswer, Breaks } from '../ports/admission.ts';
import type { TableDistributions } from '../ports/engine.ts';
import { type InconsistentObject, NOT_ENFORCED, PARTLY_SERVED } from '../ports/inconsistent-object.ts';
import type { MigrationsResult } from '../ports/migrations.ts';
import type { SchemaEffect, SchemaEffects } from '../ports/schema-effects.ts';

/** Raised for JSON that is no answer of an engine. The message has the path of the first wrong value. */
export class UnexpectedAnswer extends Error {}

const Version = Type.Integer({ minimum: 0 });

const Inconsistent = Type.Object({
  key: Type.String(),
  type: Type.String(),
  name: Type.String(),
  reason: Type.String(),
  /** The failure of a request to another service. */
  message: Type.Optional(Type.Object({ message: Type.String() })),
  code: Type.Optional(Type.String()),
  /** Absent where it is the code, and in answers of older engines. */
  behind: Type.Optional(Type.String()),
  path: Type.Optional(Type.Array(Type.Unknown())),
  served: Type.Optional(Type.Boolean()),
  away: Type.Optional(Type.Boolean()),
  /** Absent where there are none, and in answers of older engines. */
  nearest: Type.Optional(Type.Array(Type.String())),
  /** The further errors of the object. */
  more: Type.Optional(
    Type.Array(
      Type.Object({
        reason: Type.String(),
        path: Type.Optional(Type.Array(Type.Unknown())),
        nearest: Type.Optional(Type.Array(Type.String())),
      }),
    ),
  ),
});

const Report = Type.Object({
  inconsistent_objects: Type.Array(Inconsistent),
  /** Absent where there are none. */
  not_enforced: Type.Optional(Type.Array(Inconsistent)),
  /** How the tables of Citus clusters are distributed, by key. Absent without a cluster, and in answers of older engines. */
  distributions: Type.Optional(Type.Record(Type.String(), Type.String())),
});

const AffectedOperation = Type.Object({
  operation: Type.Union([Type.String(), Type.Null()]),
  client: Type.Union([Type.String(), Type.Null()]),
  requests: Type.Integer(),
  last_day: Type.String(),
});

const Verdict = Type.Union(
  (['same', 'narrower', 'wider', 'other'] as const).map((verdict) => Type.Literal(verdict)),
);
const Words = Type.Union([Type.Null(), Type.String()]);
const Access = Type.Object({
  key: Type.String(),
  role: Type.Union([Type.Null(), Type.String()]),
  except: Type.Optional(Type.Array(Type.String())),
  on: Type.String(),
  operation: Type.String(),
  change: Type.Union((['granted', 'revoked', 'changed'] as const).map((change) => Type.Literal(change))),
  verdict: Verdict,
  parts: Type.Array(Type.Object({ name: Type.String(), verdict: Verdict, before: Words, after: Words })),
});

const PrintedAccess = Type.Object({
  ...Access.properties,
  is_inherited: Type.Optional(Type.Boolean()),
  is_indirect: Type.Optional(Type.Boolean()),
});

const Effects = Type.Object({
  ...Report.properties,
  effects: Type.Object({
    access: Type.Optional(Type.Array(PrintedAccess)),
    schemas: Type.Array(
      Type.Object({
        role: Type.String(),
        breaking: Type.Integer(),
        dangerous: Type.Integer(),
        safe: Type.Integer(),
        breaking_in_use: Type.Optional(Type.Integer()),
        uncounted: Type.Optional(Type.Integer()),
        changes: Type.Array(
          Type.Object({
            severity: Type.String(),
            type: Type.String(),
            description: Type.String(),
            used_by_count: Type.Optional(Type.Integer()),
            used_by: Type.Optional(Type.Array(AffectedOperation)),
          }),
        ),
      }),
    ),
    is_complete: Type.Boolean(),
    /** Absent in the answer of an engine that cannot count. */
    usage: Type.Optional(
      Type.Union([
        Type.Null(),
        Type.Object({ days: Type.Integer(), since: Type.Union([Type.String(), Type.Null()]) }),
      ]),
    ),
  }),
});

const Admission = Type.Object({
  ...Report.properties,
  left_out: Type.Array(
    Type.Object({
      key: Type.String(),
      because: Type.Union(
        (['fault', 'breaks', 'missing', 'cycle', 'refused', 'unknown'] as const).map((cause) =>
          Type.Literal(cause),
        ),
      ),
      object: Type.Optional(Inconsistent),
      missing: Type.Optional(Type.String()),
      reason: Type.Optional(Type.String()),
      path: Type.Optional(Type.Array(Type.Unknown())),
      rivals: Type.Optional(Type.Array(Type.String())),
    }),
  ),
  held_back: Type.Optional(
    Type.Array(
      Type.Object({
        group: Type.Integer(),
        breaks: Type.Optional(
          Type.Object({
            first: Type.Union([
              Type.Object({ role: Type.String(), description: Type.String() }),
              Type.Object({ access: PrintedAccess }),
            ]),
            others: Type.Integer(),
            roles: Type.Integer(),
          }),
        ),
        unknown: Type.Optional(Type.String()),
        widens: Type.Optional(Type.Object({ first: PrintedAccess, others: Type.Integer() })),
      }),
    ),
  ),
  not_compared: Type.Optional(Type.Array(Type.Integer())),
});

const Config = Type.Object({
  resource_version: Version,
  state_version: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
});

const Exported = Type.Object({ resource_version: Version, metadata: Type.Object({}) });

const CatalogState = Type.Object({
  id: Type.String(),
  cli_state: Type.Optional(Type.Object({})),
  operator_state: Type.Optional(
    Type.Union([Type.Null(), Type.Object({ objects: Type.Optional(Type.Object({})) })]),
  ),
});

const Patched = Type.Object({ resource_version: Version, ...Report.properties });

const Replaced = Type.Object({
  is_consistent: Type.Boolean(),
  inconsistent_objects: Type.Array(Type.Object({ name: Type.String(), reason: Type.String() })),
  warnings: Type.Optional(Type.Array(Type.Object({ message: Type.String() }))),
});

const ValueChanges = Type.Object({
  values: Type.Array(
    Type.Object({
      name: Type.String(),
      change: Type.Union([Type.Literal('create'), Type.Literal('update'), Type.Literal('none')]),
    }),
  ),
});
const Values = Type.Object({ values: Type.Array(Type.Object({ name: Type.String() })) });
const Events = Type.Object({
  events: Type.Array(
    Type.Object({
      scheduled_time: Type.String(),
      status: Type.Union(
        (['scheduled', 'locked', 'delivered', 'error', 'dead'] as const).map((status) =>
          Type.Literal(status),
        ),
      ),
      tries: Type.Integer(),
    }),
  ),
});
const Migrated = Type.Object({
  state: Type.Union(
    (['applied', 'pending', 'running', 'refused', 'failed'] as const).map((state) => Type.Literal(state)),
  ),
  pending: Type.Optional(Type.Array(Type.String())),
  applied: Type.Array(Type.String()),
  version: Type.Union([Type.Null(), Type.String()]),
  message: Type.Union([Type.Null(), Type.String()]),
});
const Success = Type.Object({ message: Type.String() });

export type ConfigAnswer = Static<typeof Config>;

export function readConfig(answer: unknown): ConfigAnswer {
  return fitting(Config, answer);
}

export function readReport(answer: unknown): readonly InconsistentObject[] {
  return objectsOf(fitting(Report, answer));
}

/** Returns the effects of a dry run on the schemas of roles; undefined for the report of an engine that does not know them. */
export function readEffects(answer: unknown): SchemaEffects | undefined {
  if (isRecord(answer) && !('effects' in answer)) {
    readReport(answer);
    return undefined;
  }
  const { effects, ...report } = fitting(Effects, answer);
  const { access = [], schemas, is_complete: isComplete, usage = null } = effects;
  // What objects say is found without the engine. Which functions and remote schemas are open to every role, only the engine knows.
  const requests = access
    .map(accessOf)
    .filter((one) => isOfRequests(one) || (one.role === null && one.change !== 'changed'));
  return {
    requests,
    schemas: schemas.map(schemaEffectOf),
    isComplete,
    usage,
    inconsistent: objectsOf(report),
  };
}

/** Returns the changes of access in the effects of a dry run. */
export function readAccess(answer: unknown): readonly AccessChange[] {
  const { access = [] } = fitting(Effects, answer).effects;
  return access.map(accessOf);
}

/** Returns the answer to the question which edits fit; undefined for the report of an engine that does not know the question. */
export function readAdmission(answer: unknown): AdmissionAnswer | undefined {
  if (isRecord(answer) && !('left_out' in answer)) {
    readReport(answer);
    return undefined;
  }
  const { left_out, held_back = [], not_compared = [], ...report } = fitting(Admission, answer);
  return {
    inconsistent: objectsOf(report),
    leftOut: left_out as AdmissionAnswer['leftOut'],
    held: held_back.map(({ breaks, widens, ...held }) => ({
      ...held,
      ...(breaks ? { breaks: { ...breaks, first: breakOf(breaks.first) } } : {}),
      ...(widens ? { widens: { ...widens, first: accessOf(widens.first) } } : {}),
    })),
    notCompared: not_compared,
  };
}

type BreakAnswer = NonNullable<NonNullable<Static<typeof Admission>['held_back']>[number]['breaks']>['first'];

function breakOf(first: BreakAnswer): Breaks['first'] {
  return 'access' in first ? { access: accessOf(first.access) } : first;
}

function accessOf({
  is_inherited: isInherited,
  is_indirect: isIndirect,
  ...access
}: Static<typeof PrintedAccess>): AccessChange {
  return {
    ...access,
    ...(isInherited ? { isInherited } : {}),
    ...(isIndirect ? { isIndirect } : {}),
  } as AccessChange;
}

function schemaEffectOf({
  breaking_in_use: breakingInUse,
  changes,
  ...counts
}: Static<typeof Effects>['effects']['schemas'][number]): SchemaEffect {
  return {
    ...counts,
    ...(breakingInUse === undefined ? {} : { breakingInUse }),
    changes: changes.map(({ used_by_count, used_by, ...change }) => ({
      ...change,
      ...(used_by_count === undefined ? {} : { usedByCount: used_by_count }),
      ...(used_by && { usedBy: used_by.map(({ last_day, ...used }) => ({ ...used, lastDay: last_day })) }),
    })),
  };
}

/** The type of an inconsistency that leaves an inherited role without one permission; spec, "Inherited roles". */
const INHERITED_CONFLICT = 'inherited role permission inconsistency';

function objectsOf({ inconsistent_objects, not_enforced = [] }: Static<typeof Report>) {
  const inconsistent = inconsistent_objects.map((found) =>
    found.type === INHERITED_CONFLICT ? { ...found, code: PARTLY_SERVED } : found,
  );
  const unenforced = not_enforced.map((found) => ({ ...found, code: NOT_ENFORCED }));
  return [...inconsistent, ...unenforced] as readonly InconsistentObject[];
}

/** The answer to `export_metadata`. */
export function readExported(answer: unknown): {
  readonly resourceVersion: number;
  readonly metadata: Metadata;
} {
  const { resource_version, metadata } = fitting(Exported, answer);
  return { resourceVersion: resource_version, metadata: documentIn(metadata, '.metadata') };
}

export type ReplaceAnswer = Static<typeof Replaced>;

/** The answer to `replace_metadata`. */
export function readReplaced(answer: unknown): ReplaceAnswer {
  return fitting(Replaced, answer);
}

export type BulkAnswer = {
  readonly resourceVersion: number;
  readonly metadata: Metadata;
  readonly inconsistent: readonly InconsistentObject[];
  readonly distributions: TableDistributions;
  readonly operatorState: unknown;
};

/** The answer to `export_metadata`, `get_inconsistent_metadata` and `get_catalog_state` in one bulk. */
export function readBulk(answer: unknown): BulkAnswer {
  const [exported, report, state] = listOf(3, answer);
  const { resource_version, metadata } = fitting(Exported, exported, '[0]');
  const reported = fitting(Report, report, '[1]');
  const inconsistent = objectsOf(reported);
  return {
    resourceVersion: resource_version,
    metadata: normalMetadata(documentIn(metadata, '[0].metadata', inconsistent)),
    inconsistent,
    distributions: distributionsOf(reported),
    operatorState: fitting(CatalogState, state, '[2]').operator_state,
  };
}

/** Returns the state of the command line in the answer to `get_catalog_state`. */
export function readCliState(answer: unknown): unknown {
  return fitting(CatalogState, answer).cli_state;
}

/** The answer to `patch_metadata` and `patch_catalog_state` in one atomic bulk. */
export function readWritten(answer: unknown): {
  readonly resourceVersion: number;
  readonly inconsistent: readonly InconsistentObject[];
  readonly distributions: TableDistributions;
} {
  const [patched, noted] = listOf(2, answer);
  fitting(Success, noted, '[1]');
  const written = fitting(Patched, patched, '[0]');
  return {
    resourceVersion: written.resource_version,
    inconsistent: objectsOf(written),
    distributions: distributionsOf(written),
  };
}

function distributionsOf({ distributions = {} }: Static<typeof Report>): TableDistributions {
  return new Map(Object.entries(distributions));
}

/** Returns the answer of a dry run of `set_values`. */
export function readValueChanges(answer: unknown): Static<typeof ValueChanges> {
  return fitting(ValueChanges, answer);
}

/** Returns the answer of `list_values`. */
export function readValues(answer: unknown): Static<typeof Values> {
  return fitting(Values, answer);
}

/** An event of `get_scheduled_events`. */
export type EventAnswer = Static<typeof Events>['events'][number];

/** Returns the events of each `get_scheduled_events` in one bulk. */
export function readEvents(answer: unknown, count: number): readonly (readonly EventAnswer[])[] {
  return listOf(count, answer).map((each, i) => fitting(Events, each, `[${i}]`).events);
}

/** Returns the answer to `apply_migrations`. */
export function readMigrated(answer: unknown): MigrationsResult {
  return fitting(Migrated, answer);
}

export function readSuccess(answer: unknown): void {
  fitting(Success, answer);
}

function fitting<S extends TSchema>(schema: S, value: unknown, within = ''): Static<S> {
  try {
    validate(asJsonSchema(schema), value);
    return value as Static<S>;
  } catch (error) {
    throw unexpected(error, within);
  }
}

/** Objects that the engine cannot read either, so that it lists them as inconsistent, are absent: a resource that declares one writes it again. */
function documentIn(
  value: unknown,
  within: string,
  inconsistent: readonly InconsistentObject[] = [],
): Metadata {
  const known = new Set(inconsistent.map(({ key }) => key));
  try {
    return readableDocument(value, (key) => known.has(key));
  } catch (error) {
    throw unexpected(error, within);
  }
}

function unexpected(error: unknown, within: string): unknown {
  if (!(error instanceof EngineError)) return error;
  const path = printPath(error.path).replace('$', () => `$${within}`);
  return new UnexpectedAnswer(`at ${path}: ${error.message}`, { cause: error });
}

function listOf(length: number, value: unknown): readonly unknown[] {
  if (Array.isArray(value) && value.length === length) return value;
  const found = Array.isArray(value)
    ? `a list of ${value.length}`
    : isRecord(value)
      ? 'an object'
      : 'a value';
  throw new UnexpectedAnswer(`at $: expected a list of ${length} answers, found ${found}`);
}
