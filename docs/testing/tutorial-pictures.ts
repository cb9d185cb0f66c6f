/** The pictures of docs/guides/first-product.md: what a reader does in the console before each one. In: a page that has no session yet, the link that
 *  signs in. Not here: the other steps of the tutorial (../tutorial.test.ts). */
import type { Page } from '../../testing/browser.ts';

type Picture = (page: Page, link: string) => Promise<void>;

/** The pictures by the name of their file. */
export const TUTORIAL_PICTURES: Readonly<Record<string, Picture>> = {
  'tutorial-access': async (page, link) => {
    await openAccess(page, link, '');
    await page.resize(1200, 460);
    await page.until(`document.querySelectorAll('tbody button').length === 4`);
  },
  'tutorial-why': async (page, link) => {
    await openAccess(page, link, 'comment');
    await page.resize(1200, 740);
    await page.until(`document.querySelectorAll('tbody button').length === 1`);
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelector('.why [name=variables]')`);
    await page.evaluate(`document.querySelector('.why [name=variables]').focus()`);
    await page.type(GREEN);
    await page.pressEnter();
    await page.until(`document.querySelector('.verdict.hidden')`);
    await page.evaluate(`document.querySelector('.why').scrollIntoView({ block: 'end' })`);
  },
};

/** The session variables of a member of the other team, as the tutorial has them. */
export const GREEN = '{"x-engine-team-id": "2"}';

async function openAccess(page: Page, link: string, table: string): Promise<void> {
  await page.prefer('light');
  await page.go(link);
  await page.until(`document.querySelector('.bar')`);
  await page.go(new URL(`/console/access?role=member&table=${table}`, link).href);
}
