/** Adds to Chart.yaml what Artifact Hub shows beside a README: the kinds, the image, links, and the changes of the version. In: the repository of the image,
 *  addresses, the notes of the version. Out: fields of Chart.yaml; the annotations that never change are in charts/pergola/Chart.yaml itself. */
import { dump, load } from 'js-yaml';
import { API_GROUP, API_VERSION, KINDS } from '../../operator/kinds.ts';

type Release = {
  readonly name: string;
  readonly notes: string;
  /** The repository of the image, in a registry. */
  readonly repository?: string | undefined;
  /** The address of the site with the documents of all versions. */
  readonly site?: string | undefined;
  /** The address of the repository with the sources. */
  readonly sources?: string | undefined;
};

type Chart = Readonly<Record<string, unknown>> & { readonly annotations: Readonly<Record<string, string>> };

/** The parts of the notes that a reader must know, and the hub's name for such changes. */
const CHANGES = { 'Before you upgrade': 'changed', 'New, in short': 'added' } as const;

/** Returns the text of Chart.yaml with the fields of a release. */
export function withHub(text: string, { name, notes, repository, site, sources }: Release): string {
  const chart = load(text) as Chart;
  const lists = {
    crds: KINDS.map(({ kind, plural, description }) => ({
      kind,
      version: API_VERSION,
      name: `${plural}.${API_GROUP}`,
      displayName: kind,
      description,
    })),
    changes: changesIn(notes),
    images: repository ? [{ name: 'pergola', image: `${repository}:${name}` }] : [],
    links: [
      ...(site ? [{ name: 'documents', url: site }] : []),
      ...(sources ? [{ name: 'source', url: sources }] : []),
    ],
  };
  const written = Object.entries(lists).filter(([, list]) => list.length > 0);
  const added = Object.fromEntries(written.map(([key, list]) => [`artifacthub.io/${key}`, dump(list)]));
  return dump({
    ...chart,
    ...(site && { home: site }),
    ...(sources && { sources: [sources] }),
    annotations: { ...chart.annotations, ...added },
  });
}

/** Returns the lines of the parts that a reader must know, as plain text. */
function changesIn(notes: string): readonly { readonly kind: string; readonly description: string }[] {
  return Object.entries(CHANGES).flatMap(([heading, kind]) => {
    const part = notes.split(/^### /m).find((one) => one.startsWith(heading)) ?? '';
    return part
      .split(/^- /m)
      .slice(1)
      .map((line) => ({ kind, description: plain(line) }));
  });
}

function plain(markdown: string): string {
  return markdown
    .replaceAll(/\s*\(\[[^\]]*\]\([^)]*\)\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
