/** A link to the form of a repository that creates a file with a resource, for a pull request. Shown when the engine knows its address. */
import { NEW_FILE_URL } from './session.js';

export function NewFileLink({ file, text }) {
  if (NEW_FILE_URL === '') return null;
  const values = { name: file, text };
  const address = NEW_FILE_URL.replace(/\{(name|text)\}/g, (_, value) => encodeURIComponent(values[value]));
  return (
    <a className="button" href={address} target="_blank" rel="noreferrer">
      Open as a file
    </a>
  );
}
