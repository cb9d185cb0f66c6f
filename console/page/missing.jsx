/** What an address shows that leads to no page: an old link, or a typing error. */
import { Bar } from './bar.jsx';
import { PATH } from './session.js';
import { useTitle } from './use-title.js';

export function Missing({ session, onSignOut }) {
  useTitle('No such page');
  return (
    <>
      <Bar session={session} onSignOut={onSignOut} />
      <main className="access">
        <h1>No such page</h1>
        <p>The console has no page {PATH}. The links above lead to its pages.</p>
      </main>
    </>
  );
}
