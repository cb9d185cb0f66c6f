/** The links to the views of a page, each of which has an address. In: `views`, by their name in the address, each with a title first. */
export function Views({ views, page, view, onChange }) {
  const current = view in views ? view : '';
  return (
    <nav className="views" aria-label="Views">
      {Object.entries(views).map(([name, [title]]) => (
        <a
          key={name}
          href={name === '' ? page : `${page}?view=${name}`}
          aria-current={name === current ? 'true' : undefined}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            onChange(name);
          }}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
