/** The bar above every page: links to the pages, what the page adds, and the button that signs out. */

const LINKS = [
  ['./', 'Explore'],
  ['access', 'Access'],
];

export function Bar({ secret, onSignOut, children }) {
  const here = location.pathname.split('/').at(-1) || './';
  return (
    <header className="bar">
      <strong>Pergola</strong>
      <nav aria-label="Pages">
        {LINKS.map(([address, name]) => (
          <a key={name} href={address} aria-current={address === here ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {children}
      <button type="button" onClick={onSignOut}>
        {secret ? 'Sign out' : 'Sign in'}
      </button>
    </header>
  );
}
