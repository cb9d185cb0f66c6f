/** The cost of the validation rules of each definition, as a real API server estimates it from the bounds of the schema. It refuses a
 *  definition with a rule above 10 million units, or with rules above 100 million together, and an estimate changes between versions of
 *  Kubernetes. So each definition must be accepted with rules ten times as costly. */
import { KINDS, type KindRow } from '@pergola/operator/kinds';
import { expect, test } from 'vitest';
import { describeKube, type TestKube } from '../testing/kube.ts';
import { type Definition, definition } from './generate.ts';

/** The headroom: the factor by which each rule is made more costly. Measured: 20 for the costliest rule (headers of Table), 22 for the next
 *  (the query of PermissionTest), 60 for all rules of Table together. */
const FACTOR = 10;

/** A group without definitions, so that an API server cannot compare the rules with those it already has. */
const GROUP = 'rule-cost.test';

const RULES = 'x-kubernetes-validations';

describeKube('the cost of validation rules', (kube) => {
  test.each(KINDS as readonly KindRow[])('$kind has rules that may cost ten times as much', async (row) => {
    expect(await refusal(kube(), costlier(definition(row), FACTOR))).toBeUndefined();
  });

  test('a rule that searches the texts of a long list is refused, although it is accepted once', async () => {
    const { name, made } = withCostlyRule('tables');
    expect(await refusal(kube(), costlier(made, 1))).toBeUndefined();
    const refused = await refusal(kube(), costlier(made, FACTOR));
    expect(refused).toMatch(/estimated rule cost exceeds budget by factor of/);
    expect(refused).toContain(name);
  });
});

/** Returns why the API server refuses to create the definition, without creating it. */
async function refusal(kube: TestKube, made: Definition): Promise<string | undefined> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All';
  const { status, body } = await kube.request('POST', path, made);
  return status === 201 ? undefined : (body.message as string);
}

/** Returns the definition in a group of its own, with each rule repeated within its expression. */
function costlier(made: Definition, factor: number): Definition {
  const spec = repeated(made.spec, factor) as { readonly names: { readonly plural: string } };
  const name = `${spec.names.plural}.${GROUP}`;
  return { ...made, metadata: { ...made.metadata, name }, spec: { ...spec, group: GROUP } };
}

function repeated(schema: unknown, factor: number): unknown {
  if (Array.isArray(schema)) return schema.map((item) => repeated(item, factor));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([word, inner]) =>
      word === RULES
        ? [word, (inner as { rule: string }[]).map((one) => ({ ...one, rule: times(one.rule, factor) }))]
        : [word, repeated(inner, factor)],
    ),
  );
}

/** Returns an expression that costs as much as the rule several times: `&&` counts both sides. */
function times(rule: string, factor: number): string {
  return Array.from({ length: factor }, () => `(${rule})`).join(' && ');
}

/** Returns a definition with one more rule of the kind that authors add: each item of a list of 1,600 is searched. */
function withCostlyRule(plural: string): { readonly name: string; readonly made: Definition } {
  const row = (KINDS as readonly KindRow[]).find((one) => one.plural === plural)!;
  const made = structuredClone(definition(row));
  type Schema = { readonly properties: Readonly<Record<string, Record<string, unknown>>> };
  const { versions } = made.spec as {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
  const spec = versions[0]!.schema.openAPIV3Schema.properties['spec'] as unknown as Schema;
  const name = 'computedFields';
  const rule = "self.all(one, one.comment.matches('^[A-Z]'))";
  Object.assign(spec.properties[name]!, { [RULES]: [{ rule, message: 'a comment has a capital' }] });
  return { name, made };
}
