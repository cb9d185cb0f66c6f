/** The public surface of the metadata model, and of the engine package: what the operator and the CRDs may see.
 *  Not here: anything with I/O. */
export { EngineError, fail, type PathStep, printPath, withPath } from '../errors/engine-error.ts';
export { ERRORS, type ErrorName } from '../errors/errors.ts';
export * from './dependencies.ts';
export * from './diff.ts';
export { type Files, toDirectory } from './directory.ts';
export * from './export.ts';
export * from './objects.ts';
export * from './operations.ts';
export * from './parse.ts';
export type { Fragment } from './places.ts';
export { type DirectoryContent, DirectoryError, fromDirectory } from './read-directory.ts';
export * from './schema/action.ts';
export * from './schema/collection.ts';
export * from './schema/common.ts';
export * from './schema/event.ts';
export * from './schema/function.ts';
export * from './schema/logical-model.ts';
export * from './schema/metadata.ts';
export * from './schema/native-query.ts';
export * from './schema/permission.ts';
export * from './schema/policy.ts';
export * from './schema/relationship.ts';
export * from './schema/remote-schema.ts';
export * from './schema/source.ts';
export * from './schema/table.ts';
export { type Static, type TProperties, type TSchema, Type } from './schema/type.ts';
export { isSameJson } from './walk-schema.ts';
