/** Text in a region that scrolls, which the keyboard can reach. */
export function Scrolling({ label, text }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable
    <section className="scrolling" aria-label={label} tabIndex={0}>
      <pre>{text}</pre>
    </section>
  );
}
