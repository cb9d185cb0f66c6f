/** Text in a region that scrolls, which the keyboard can reach. Long lines go on in the next line, unless the text is aligned. */
export function Scrolling({ label, text, isAligned = false }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable
    <section className="scrolling" aria-label={label} tabIndex={0}>
      <pre className={isAligned ? 'aligned' : undefined}>{text}</pre>
    </section>
  );
}
