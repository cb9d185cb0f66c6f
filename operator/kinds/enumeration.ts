/** Values of enumerations. The metadata has them in several spellings (`read-committed`, `select_by_pk`, `sqlcommenter`); custom resources
 *  have all of them in PascalCase, as Kubernetes does.
 *  In: a schema of the metadata, a union of texts. Out: its schema in a custom resource; a value, and back. Pure.
 *  Not here: the projection of whole objects, which uses this (project.ts). */
import { type TSchema, Type } from '@pergola/engine/metadata';
import { inForm } from './mapping.ts';

/** The values whose words the metadata does not separate, or that have a shorter name in custom resources. */
const IRREGULAR: Readonly<Record<string, string>> = {
  sqlcommenter: 'SqlCommenter',
  tracecontext: 'TraceContext',
  x_www_form_urlencoded: 'Form',
};

/** Returns the value of a custom resource for a value of the metadata: `ReadCommitted` for `read-committed`. */
export function pascalCase(value: string): string {
  const words = value.split(/[-_]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return IRREGULAR[value] ?? words.join('');
}

/** Returns the schema of the same enumeration in a custom resource. The value '' of the metadata, which means absent, has no name. `absent` is
 *  the value of the metadata that an absent field stands for. */
export function enumeration(values: TSchema, absent?: string) {
  const texts = valuesOf(values);
  const schema = { type: 'string', enum: texts.filter(Boolean).map(pascalCase) };
  return inForm(Type.Unsafe<string>(schema), {
    write: (value: string) => texts.find((text) => pascalCase(text) === value) ?? value,
    read: (value: string) => (value === absent ? undefined : pascalCase(value) || undefined),
    absent: () => absent,
  });
}

/** Returns the texts of a union of constants. */
function valuesOf(schema: TSchema): readonly string[] {
  const branches = (schema as { readonly anyOf?: readonly { readonly const?: unknown }[] }).anyOf ?? [];
  return branches.map((branch) => branch.const).filter((value) => typeof value === 'string');
}
