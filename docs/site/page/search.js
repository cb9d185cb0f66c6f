/** The search of the site, without another server: the index is loaded when the field gets the focus.
 *  Also closes the list of documents on narrow screens. */
import { INDEX } from './words.js';

const MOST = 12;
const root = document.documentElement.dataset.root;
const field = document.querySelector('input[type=search]');
const list = document.querySelector('.results');
let index;

function load() {
  index ??= Promise.all([
    import('./minisearch.js'),
    fetch(`${root}/search.json`).then((response) => response.text()),
  ]).then(([{ default: MiniSearch }, text]) => MiniSearch.loadJSON(text, INDEX));
  return index;
}

async function show() {
  const query = field.value.trim();
  const found = query === '' ? [] : (await load()).search(query).slice(0, MOST);
  if (query !== field.value.trim()) return;
  const links = found.map(({ url, heading, title }) => {
    const link = document.createElement('a');
    link.href = `${root}/${url}`;
    const where = document.createElement('small');
    where.textContent = title === heading ? '' : title;
    link.append(heading, where);
    return link;
  });
  list.replaceChildren(...links);
  if (query !== '' && found.length === 0) list.textContent = 'Nothing was found.';
}

field.addEventListener('focus', load);
field.addEventListener('input', show);
field.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') list.querySelector('a')?.click();
  if (event.key === 'Escape') {
    field.value = '';
    show();
  }
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input')) return;
  event.preventDefault();
  field.focus();
});
// What was typed before this script was loaded.
if (field.value !== '') show();
if (matchMedia('(max-width: 60rem)').matches) document.querySelector('.navigation').open = false;
