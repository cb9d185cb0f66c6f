/** Tests that every field of a spec has a member in the metadata: one that is not there would be lost without a message. */
import { OBJECTS, type TSchema } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { KINDS, type KindRow } from '../kinds.ts';
import { formOf, pathInObject } from './mapping.ts';
import { fieldsOf } from './parts.ts';

type Shape = {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
};

const WITH_OBJECTS = (KINDS as readonly KindRow[]).filter(({ objects }) => objects.length > 0);

/** Fields of the resource itself, and those whose objects are translated by code of their kind. */
const WITHOUT_MEMBER = new Set([
  'engineRef',
  'suspend',
  'driftPolicy',
  'adoptionPolicy',
  'deletionPolicy',
  'waitForDeletion',
  // Of an Action: they are in the objects of its types.
  'relationships',
]);

test.each(WITH_OBJECTS.map((row) => [row.kind, row] as const))(
  'every field of a %s has a member',
  (_, row) => {
    const lost = row.objects.flatMap((part) =>
      Object.entries(fieldsOf(row.spec, part, row.objects)).flatMap(([name, field]) => {
        const isKey = row.objects.some(({ key }) => key.includes(name));
        const isLost = pathInObject(name, field) === null && !isKey && !WITHOUT_MEMBER.has(name);
        return isLost ? [name] : strayIn(name, field, OBJECTS[part.kind].schema as Shape);
      }),
    );
    expect(lost).toEqual([]);
  },
);

/** Returns the fields at and below a field that go to members that the object does not have. */
function strayIn(name: string, field: TSchema, object: Shape): readonly string[] {
  const to = pathInObject(name, field);
  if (to === null) return [];
  const form = formOf(field);
  const member = [...to, ...(form?.members?.slice(0, 1) ?? [])].reduce<Shape | undefined>(memberOf, object);
  if (!member) return [`${name} to ${to.join('.')}`];
  const { properties, items } = field as Shape;
  const inner = Object.entries(properties ?? items?.properties ?? {});
  // A form changes the members below it.
  if (form || (items && formOf(items as TSchema))) return [];
  const owner = items ? itemOf(member) : member;
  return inner.flatMap(([key, own]) =>
    strayIn(key, own as TSchema, owner ?? {}).map((text) => `${name}.${text}`),
  );
}

function memberOf(owner: Shape | undefined, step: string): Shape | undefined {
  if (!owner) return undefined;
  const branches = (owner.anyOf ?? []).map((branch) => memberOf(branch, step));
  return owner.properties?.[step] ?? branches.find((branch) => branch !== undefined);
}

function itemOf(list: Shape): Shape | undefined {
  return list.items ?? list.anyOf?.map(itemOf).find((item) => item !== undefined);
}
