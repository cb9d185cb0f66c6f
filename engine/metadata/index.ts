/** The public interface of the metadata model and of the engine package, for the operator and the CRDs.
 *  Not here: anything with I/O. */

export { EngineError, type PathStep, printPath, withPath } from '../errors/engine-error.ts';
export { nearestNames, nearestText } from '../errors/nearest.ts';
export { isOfAllowList } from '../errors/refusals.ts';
export { parseJson } from '../json/parse-json.ts';
export { isRecord, isSameJson, withNearestNumbers } from '../json/value.ts';
export {
  type AccessChange,
  type AccessOperation,
  accessChange,
  isOfRequests,
} from './access/access-change.ts';
export { accessChanges, type CausedAccessChange } from './access/access-changes.ts';
export { type AccessPart, type AccessVerdict, compareFilters } from './access/compare-filters.ts';
export { isBreaking, isGaining, wideningParts } from './access/verdicts.ts';
export { type ActionsSdl, printActionsSdl, readActionsSdl } from './actions-sdl.ts';
export { type CalledUrl, callsOf } from './calls.ts';
export { readableDocument } from './damaged.ts';
export * from './dependencies.ts';
export * from './edit.ts';
export * from './export.ts';
export * from './foreign-sources.ts';
export { parseGraphql } from './graphql-syntax.ts';
export { canonicalPrefix, fromWire } from './header-prefix.ts';
export { cycleAmong, orderRoles } from './inherited-roles.ts';
export { withChanges } from './layered-map.ts';
export { CUSTOM_TYPE_CATEGORIES } from './locations.ts';
export * from './merge-patch.ts';
export { namesIn } from './names.ts';
export { normalMetadata } from './normal-form.ts';
export * from './objects.ts';
export * from './operations/row.ts';
export * from './operations.ts';
export { own } from './own.ts';
export * from './parse.ts';
export * from './references.ts';
export * from './schema/action.ts';
export * from './schema/collection.ts';
export * from './schema/common.ts';
export * from './schema/event.ts';
export * from './schema/function.ts';
export * from './schema/logical-model.ts';
export { SECRET_MARK, secret } from './schema/marks.ts';
export * from './schema/metadata.ts';
export * from './schema/native-query.ts';
export { AtLeastOne, Count, Hours, Port, Seconds } from './schema/number.ts';
export * from './schema/permission.ts';
export * from './schema/policy.ts';
export * from './schema/relationship.ts';
export * from './schema/remote-schema.ts';
export * from './schema/source.ts';
export * from './schema/table.ts';
export { type Static, type TProperties, type TSchema, Type } from './schema/type.ts';
export { lossesInSdl } from './sdl-losses.ts';
export { stateVersionOf } from './state-version.ts';
export { unknownKeys } from './unknown-keys.ts';
export { validate } from './validate.ts';
export * from './variables.ts';
export { asJsonSchema } from './walk-schema.ts';
export { concealed, HIDDEN, withoutSecrets } from './without-secrets.ts';
export { isPlainEverywhere, printYaml, YAML_SCHEMA } from './yaml.ts';
