/** Validates a spec against its kind. Out: sentences with a path and a remedy; none when the spec is valid.
 *  It uses the schemas of the definitions with their list keys and rules, so a folder must pass the validation of an API server.
 *  The schemas derive from those of the metadata, which the engine validates on its own (engine/metadata/validate.ts). ajv stays here
 *  because specs need keywords of Kubernetes, unknown fields and all problems at once, and few are validated at start.
 *  Not here: the meaning, which only the engine checks. */
import { isRecord, nearestNames, nearestText, withNearestNumbers } from '@pergola/engine/metadata';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { hasOldForm } from '../conversion/convert.ts';
import { IdentityCache } from '../identity-cache.ts';
import type { Rule } from './annotate.ts';
import type { KindRow } from './kind.ts';

const MOST_PROBLEMS = 5;

export type SpecIssue = {
  /** The path within the spec. */
  readonly path: readonly string[];
  /** The sentence, which begins with the path as text: `spec.permissions[0].role is required`. */
  readonly text: string;
  /** True when the kind has no such field. */
  readonly isUnknownField: boolean;
};

const OLD_FORM = 'the resource has an older form of v1alpha1; pergola convert rewrites it';

/** Returns the first problems of a spec, and a hint when it has the old form. */
export function problemsOf(row: KindRow, spec: unknown): readonly string[] {
  const texts = issuesOf(row, spec).map(({ text }) => text);
  const rest = texts.length - MOST_PROBLEMS;
  const shown = rest > 0 ? [...texts.slice(0, MOST_PROBLEMS), `and ${rest} more`] : texts;
  const hint = shown.length > 0 ? oldFormHint(row, spec) : undefined;
  return hint === undefined ? shown : [...shown, hint];
}

/** Returns a hint for a spec of the old form. */
export function oldFormHint(row: KindRow, spec: unknown): string | undefined {
  return isRecord(spec) && hasOldForm(row.kind, spec) ? OLD_FORM : undefined;
}

/** Returns all problems of a spec. */
export function issuesOf(row: KindRow, spec: unknown): readonly SpecIssue[] {
  const validator = compiled(row);
  if (validator(withNearestNumbers(spec))) return [];
  const issues = (validator.errors ?? []).filter(isInformative).map((error) => ({
    path: [...segmentsOf(error.instancePath), ...fieldNamedBy(error)],
    text: textOf(error, row),
    isUnknownField: error.keyword === 'additionalProperties',
  }));
  return [...new Map(issues.map((issue) => [issue.text, issue])).values()];
}

/** Returns the unknown field that an error is about. A missing one has no position of its own. */
function fieldNamedBy({ keyword, params }: ErrorObject): readonly string[] {
  return keyword === 'additionalProperties' ? [String(params['additionalProperty'])] : [];
}

/** The schemas are constants, so they are not validated, and validators are not optimized: that would take half of the time and of the
 *  memory of a compilation, and the validators would not be faster. */
const OPTIONS = {
  strict: false,
  allErrors: true,
  verbose: true,
  validateFormats: false,
  validateSchema: false,
  meta: false,
  code: { optimize: false },
} as const;

let ajv: Ajv | undefined;
const validators = new IdentityCache<KindRow, ValidateFunction>();

function compiled(row: KindRow): ValidateFunction {
  return validators.get(row, () => {
    ajv ??= withKubernetesWords(new Ajv(OPTIONS));
    return ajv.compile(row.spec);
  });
}

function withKubernetesWords(instance: Ajv): Ajv {
  instance.addKeyword({
    keyword: 'x-kubernetes-validations',
    type: 'object',
    validate: (rules: readonly Rule[], value: unknown) => rules.every((rule) => rule.holds(value)),
  });
  instance.addKeyword({
    keyword: 'x-kubernetes-list-map-keys',
    type: 'array',
    validate: (keys: readonly string[], items: readonly unknown[]) => repeatedItem(items, keys) === undefined,
  });
  return instance;
}

/** Returns the keys of the first item that repeats those of an earlier one, as text: `role "user"`. */
function repeatedItem(items: readonly unknown[], keys: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return items
    .map((item) => {
      const values = keys.map((key) => (item as Readonly<Record<string, unknown>> | null)?.[key]);
      if (values.includes(undefined)) return undefined;
      return keys.map((key, i) => `${key} ${printed(values[i])}`).join(', ');
    })
    .find((text) => text !== undefined && (seen.has(text) || !seen.add(text)));
}

/** False for errors in branches of a union, which the error of the union already covers. */
function isInformative(error: ErrorObject): boolean {
  return !(error.keyword === 'const' && error.schemaPath.includes('/anyOf/'));
}

function textOf(error: ErrorObject, row: KindRow): string {
  const at = pathOf(error.instancePath);
  const { keyword, params, schema, data } = error;
  switch (keyword) {
    case 'required':
      return `${at}.${params['missingProperty']} is required`;
    case 'additionalProperties': {
      const name = String(params['additionalProperty']);
      return `${at}.${name} is not a field${meantInstead(row.spec, fieldsOf(error), name)}`;
    }
    case 'type':
      return `${at} must be ${article(String(params['type']))}, and is ${printed(data)}`;
    case 'enum':
      return `${at} must be one of ${params['allowedValues'].join(', ')}, and is ${printed(data)}`;
    case 'const':
      return `${at} must be ${printed(params['allowedValue'])}, and is ${printed(data)}`;
    case 'anyOf':
      return `${at} must be ${choices(schema)}, and is ${printed(data)}`;
    case 'pattern':
      return `${at} must match ${params['pattern']}, and is ${printed(data)}`;
    case 'minLength':
      return `${at} must not be empty`;
    case 'x-kubernetes-validations':
      return ruleText(at, brokenRule(schema as readonly Rule[], data));
    case 'x-kubernetes-list-map-keys': {
      const keys = schema as readonly string[];
      const repeated = repeatedItem(data as readonly unknown[], keys);
      return `${at} has two items with the ${repeated}; make them one, or give one another ${keys.join(' or ')}`;
    }
    default:
      return `${at} ${error.message ?? keyword}`;
  }
}

/** Returns the message of a rule behind its path, unless the message begins with the path: an API server does not print that of a spec. */
function ruleText(at: string, message: string): string {
  return message.startsWith(at) ? message : `${at}: ${message}`;
}

function brokenRule(rules: readonly Rule[], value: unknown): string {
  return rules.find((rule) => !rule.holds(value))?.message ?? 'a rule does not hold';
}

function fieldsOf(error: ErrorObject): readonly string[] {
  return Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
}

function choices(schema: unknown): string {
  const branches = schema as readonly { readonly const?: unknown; readonly type?: string }[];
  return branches.map((branch) => (branch.const === undefined ? branch.type : branch.const)).join(' or ');
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Returns a value as text, shortened to fit into a message. */
function printed(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Returns a JSON pointer as a path: `/permissions/0/select` becomes `spec.permissions[0].select`. */
function pathOf(pointer: string): string {
  return segmentsOf(pointer).reduce(
    (path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : `${path}.${key}`),
    'spec',
  );
}

function segmentsOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The limits of a value. Real conditions and documents are far smaller; recursive code manages several thousand levels. */
const MOST_LEVELS = 256;
const MOST_VALUES = 2_000_000;

/** Returns how a value exceeds the limits: `is nested more than 256 levels deep`; undefined when it does not. */
export function exceededLimit(value: unknown): string | undefined {
  const left: { readonly value: object; readonly level: number }[] = [];
  let values = 0;
  const note = (inner: unknown, level: number) => {
    values++;
    if (typeof inner === 'object' && inner !== null) left.push({ value: inner, level });
  };
  note(value, 1);
  for (let next = left.pop(); next; next = left.pop()) {
    if (next.level > MOST_LEVELS) return `is nested more than ${MOST_LEVELS} levels deep`;
    if (values > MOST_VALUES) return `holds more than ${MOST_VALUES} values`;
    for (const inner of Object.values(next.value)) note(inner, next.level + 1);
  }
  return undefined;
}

type Fields = {
  readonly properties?: Readonly<Record<string, Fields>>;
  readonly items?: Fields;
};

/** The most other places that a message names. A name that more places have, such as `name`, says nothing. */
const MOST_PLACES = 2;
/** The most fields that are listed beside other places: a field of the object may have been meant as well. */
const MOST_LISTED = 5;

/** Returns the clause that says what may have been meant by a field that the kind does not have: a similar name, the same field at another
 *  place, or else all fields that there are. `fields` are those that the object may have. */
function meantInstead(spec: Fields, fields: readonly string[], name: string): string {
  const near = nearestNames(name, fields);
  if (near.length > 0) return nearestText(near);
  const places = placesOf(name, spec, 'spec');
  const all = `; there are ${fields.join(', ') || 'none'}`;
  if (places.length === 0 || places.length > MOST_PLACES) return all;
  const elsewhere = `; ${places.join(' and ')} ${places.length === 1 ? 'is' : 'are'}`;
  return fields.length > 0 && fields.length <= MOST_LISTED ? `${all}${elsewhere}` : elsewhere;
}

/** Returns the paths of all fields with this name. */
function placesOf(name: string, { properties = {}, items }: Fields, path: string): readonly string[] {
  return [
    ...Object.entries(properties).flatMap(([key, schema]) => [
      ...(key === name ? [`${path}.${key}`] : []),
      ...placesOf(name, schema, `${path}.${key}`),
    ]),
    ...(items ? placesOf(name, items, `${path}[]`) : []),
  ];
}
