/** Makes the anchors of headings, as forges do, so that a link works in the repository and on the site. Pure. */

/** Returns the anchor of the text of a heading, which may have links in it. */
export function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-');
}

/** Returns a function that gives each heading of one document its anchor. The second of two equal headings ends in `-1`. */
export function anchors(): (heading: string) => string {
  const counts = new Map<string, number>();
  return (heading) => {
    const anchor = anchorOf(heading);
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  };
}
