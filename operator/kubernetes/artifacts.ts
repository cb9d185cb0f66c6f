/** The artifacts of the Migrations of an engine, during one pass. The pass never waits for a registry: a download that ends marks the engine,
 *  and the next pass has its content.
 *  In: the resources of the engine and their references. Out: contents, and the digests for statuses.
 *  Not here: downloads (artifacts/artifact-store.ts). */
import { artifactRequestOf, RECONCILE_ANNOTATION } from '../artifacts/artifact-request.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { MigrationSpec } from '../kinds/migration.ts';
import { type CustomResource, contentOf } from '../kinds.ts';
import type { ArtifactAnswer } from '../ports/migrations.ts';
import type { Observed, ReferenceLookup } from '../ports/resources.ts';
import { intervalsOf } from './engine-binding.ts';

export class MigrationArtifacts {
  readonly #store: ArtifactStore;
  readonly #engine: CustomResource;
  readonly #references: ReferenceLookup;
  /** The digests that the pass has used, by uid. */
  readonly #used = new Map<string, string>();

  constructor(
    store: ArtifactStore,
    engine: CustomResource,
    resources: readonly CustomResource[],
    references: ReferenceLookup,
  ) {
    this.#store = store;
    this.#engine = engine;
    this.#references = references;
    const uids = resources.flatMap((cr) => (contentOf(cr) === 'artifact' ? [cr.metadata.uid] : []));
    store.keep(groupOf(engine), new Set(uids));
  }

  /** Returns the artifact as far as it has been downloaded. Called only for a Migration that may run: one that a grant covers. */
  artifactOf(cr: CustomResource): ArtifactAnswer {
    const request = artifactRequestOf(cr, this.#references);
    if ('reason' in request) return request;
    const { uid, annotations } = cr.metadata;
    const answer = this.#store.look({
      group: groupOf(this.#engine),
      uid,
      request,
      // A full pass must find it old enough.
      maxAgeMs: 0.9 * intervalsOf(this.#engine).fullMs,
      nudge: JSON.stringify(
        [annotations, this.#engine.metadata.annotations].map((all) => all?.[RECONCILE_ANNOTATION]),
      ),
    });
    if ('digest' in answer) this.#used.set(uid, answer.digest);
    return answer;
  }

  /** Returns the digest that the pass has used, or else the one in the status: the Migration counts as applied from it. */
  observed({ metadata, spec, status }: CustomResource): Pick<Observed, 'observedArtifact'> {
    const { ociArtifact } = spec as MigrationSpec;
    if (!ociArtifact) return {};
    const digest = this.#used.get(metadata.uid);
    const observedArtifact = digest
      ? { repository: ociArtifact.repository, digest }
      : status?.observedArtifact;
    return observedArtifact ? { observedArtifact } : {};
  }
}

function groupOf({ metadata: { namespace, name } }: CustomResource): string {
  return `${namespace}/${name}`;
}
