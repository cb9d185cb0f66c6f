import { expect, test } from 'vitest';
import { cycleAmong, orderRoles, refuseCycles } from './inherited-roles.ts';
import { parseMetadata } from './parse.ts';

const role = (role_name: string, ...role_set: string[]) => ({ role_name, role_set });
const namesOf = (roles: readonly { role_name: string }[]) => roles.map(({ role_name }) => role_name);

test('parents come before those who inherit from them, whatever the document’s order', () => {
  const roles = [role('c', 'b', 'x'), role('a', 'x', 'y'), role('b', 'a')];
  expect(namesOf(orderRoles(roles).ordered)).toEqual(['a', 'b', 'c']);
});

test('a cycle has no order, nor have those that inherit from it', () => {
  const { ordered, stuck } = orderRoles([role('d', 'b'), role('a', 'b'), role('b', 'a'), role('free', 'x')]);
  expect(namesOf(ordered)).toEqual(['free']);
  expect(namesOf(stuck)).toEqual(['d', 'a', 'b']);
});

test('a cycle is told from its first name on, without those that only lead to it', () => {
  expect(cycleAmong([role('0', 'b'), role('b', 'x', 'c'), role('c', 'a'), role('a', 'b')])).toEqual([
    'a',
    'b',
    'c',
    'a',
  ]);
  expect(() => refuseCycles([role('a', 'a')])).toThrow('found cycle(s) in roles: ["a","a"]');
});

test('a document with a cycle is refused as a whole', () => {
  const document = { version: 3, sources: [], inherited_roles: [role('a', 'b'), role('b', 'a')] };
  expect(() => parseMetadata(document)).toThrow('found cycle(s) in roles: ["a","b","a"]');
});
