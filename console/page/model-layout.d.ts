/** The types of model-layout.js for its test. */
type Node = { readonly key: string; readonly x: number; readonly y: number };
type Relationship = {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly name: string;
  readonly type: string;
};

export const NODE: { readonly width: number; readonly height: number };
export const MOST_NEIGHBOURS: number;

/** Returns the nodes by key, the edges between them, and how many related objects of each node are not shown. */
export function layoutOf(
  center: string,
  expanded: ReadonlySet<string>,
  edgesOf: (key: string) => readonly Relationship[],
): {
  readonly nodes: ReadonlyMap<string, Node>;
  readonly edges: readonly {
    readonly left: Node;
    readonly right: Node;
    readonly names: readonly string[];
    readonly isLeftMany: boolean;
    readonly isRightMany: boolean;
  }[];
  readonly hidden: ReadonlyMap<string, number>;
};
