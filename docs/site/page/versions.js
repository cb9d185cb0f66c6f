/** Makes the links of the menu of versions lead to this page in the other version, where that version has it. Looks when the menu is opened. */
const menu = document.querySelector('details.version');

async function lookForSamePage(link) {
  const same = new URL(link.dataset.same, location.href);
  delete link.dataset.same;
  const answer = await fetch(same, { method: 'HEAD' }).catch(() => undefined);
  if (answer?.ok) link.href = same.href;
}

menu.addEventListener('toggle', () => {
  for (const link of menu.querySelectorAll('[data-same]')) lookForSamePage(link);
});
