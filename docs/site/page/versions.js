/** Makes the version of the page a menu of the versions that the site has. Their list is above the folders of all versions, so that a page of an old
 *  version knows newer ones. A link leads to this page in the other version where that version has it, and to its first page otherwise. */
const root = document.documentElement.dataset.root;
const shown = document.querySelector('.version');
const version = shown.textContent;

async function lookForSamePage(link) {
  const same = new URL(link.dataset.same, location.href);
  delete link.dataset.same;
  const answer = await fetch(same, { method: 'HEAD' }).catch(() => undefined);
  if (answer?.ok) link.href = same.href;
}

function linkTo(other) {
  if (other === version) return Object.assign(document.createElement('strong'), { textContent: other });
  const link = document.createElement('a');
  link.textContent = other;
  link.href = `${root}/../${other}/index.html`;
  link.dataset.same = `${root}/../${other}/${shown.dataset.path}`;
  return link;
}

function menuOf(versions) {
  const menu = document.createElement('details');
  menu.className = 'version';
  const summary = document.createElement('summary');
  summary.textContent = version;
  summary.setAttribute('aria-label', `Version ${version}, choose another`);
  const list = document.createElement('p');
  list.append(...versions.flatMap((other) => [linkTo(other), ' ']));
  menu.append(summary, list);
  menu.addEventListener('toggle', () => {
    for (const link of menu.querySelectorAll('[data-same]')) lookForSamePage(link);
  });
  return menu;
}

const versions = await fetch(`${root}/../versions.json`)
  .then((answer) => (answer.ok ? answer.json() : []))
  .catch(() => []);
if (versions.length > 1) shown.replaceWith(menuOf(versions));
