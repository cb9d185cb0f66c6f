/** Operations on traces: the whole configuration, or its status alone.
 *  Not here: what it does (http/tracing.ts). Reference: docs/reference/behaviour/metadata-api.md, docs/reference/behaviour/observability.md. */
import { putObject } from '../../metadata/edit.ts';
import { objectKey } from '../../metadata/objects.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Handler } from './handler.ts';

export const setConfig: Handler<'set_opentelemetry_config'> = (draft, definition) => put(draft, definition);

export const setStatus: Handler<'set_opentelemetry_status'> = (draft, { status }) =>
  put(draft, { ...draft.opentelemetry, status });

function put(draft: Metadata, definition: NonNullable<Metadata['opentelemetry']>): Metadata {
  return putObject(draft, {
    key: objectKey('opentelemetry'),
    kind: 'opentelemetry',
    parent: null,
    definition,
  });
}
