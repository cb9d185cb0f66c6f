/** Composes subgraphs as a router's tools do. Reads `{name: SDL}` from standard input; reports the errors, the entities of the supergraph
 *  with the subgraphs that resolve them, and its root fields. */
import { text } from 'node:stream/consumers';
import { composeServices, compositionHasErrors } from '@theguild/federation-composition';
import { Kind, parse } from 'graphql';
import { report } from './lib.mjs';

await report(async () => {
  const subgraphs = JSON.parse(await text(process.stdin));
  const services = Object.entries(subgraphs).map(([name, sdl]) => ({
    name,
    typeDefs: parse(sdl),
    url: `http://${name}`,
  }));
  const result = composeServices(services);
  if (compositionHasErrors(result)) return { errors: result.errors.map(({ message }) => message) };
  const { definitions } = parse(result.supergraphSdl);
  const named = (node) => node.directives?.filter(({ name }) => name.value === 'join__type') ?? [];
  const argument = ({ arguments: all }, name) => all.find((one) => one.name.value === name)?.value.value;
  const entities = definitions
    .filter(({ kind }) => kind === Kind.OBJECT_TYPE_DEFINITION)
    .flatMap((node) =>
      named(node).flatMap((one) =>
        argument(one, 'key') ? [[node.name.value, argument(one, 'graph'), argument(one, 'key')]] : [],
      ),
    );
  const roots = definitions.filter(({ name }) => ['Query', 'Mutation', 'Subscription'].includes(name?.value));
  return {
    errors: [],
    entities,
    roots: Object.fromEntries(
      roots.map(({ name, fields }) => [name.value, fields.map((field) => field.name.value)]),
    ),
  };
});
