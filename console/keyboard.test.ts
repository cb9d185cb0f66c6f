/** Every page by keyboard alone: Tab, and arrow keys inside of a group, reach each element that a mouse can use, in the order of the document; each
 *  shows that it has the focus, and none keeps it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from '../testing/browser.ts';
import { type ConsoleWorld, HAS_BROWSER, REASON, TIMEOUT_MS } from './testing/console.ts';
import { pagesOf } from './testing/pages.ts';
import { startWorld, WORLDS } from './testing/worlds.ts';

/** More than any page has controls. */
const MOST_STOPS = 400;

/** Functions that run in the page. */
const IN_PAGE = `window.walk = (() => {
  const reached = new Set();
  const problems = [];
  let last = null;
  const nameOf = (element) => element.outerHTML.slice(0, 160);
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.getClientRects().length > 0;
  /** React keeps the attributes of an element in a property of it. */
  const hasHandler = (element) => {
    const key = Object.keys(element).find((name) => name.startsWith('__reactProps$'));
    return Boolean(key && element[key].onClick);
  };
  /** A button may give the focus to a heading, which is no control. */
  const isControl = (element) => element.matches('a[href], button, input, select, textarea, summary, [tabindex]:not(h2), [contenteditable=true]') || hasHandler(element);
  /** The lines of an editor are drawn for the mouse; the editor itself takes the keyboard. */
  const isOfEditor = (element) => element.closest('.monaco-editor') !== null;
  const controls = () => [...document.querySelectorAll('body *')].filter((element) => isControl(element) && !element.disabled && isVisible(element) && !isOfEditor(element));
  const groupOf = (element) => element.closest('ul, ol, [role=tablist], [role=toolbar], fieldset, svg');
  const isShown = (element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
  };
  return {
    /** Notes the element with the focus; false when the walk is over. */
    note(isInOrder) {
      const element = document.activeElement;
      if (!element || element === document.body || reached.has(element)) return false;
      if (isInOrder && last && !(last.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) problems.push('out of order: ' + nameOf(element));
      if (!isOfEditor(element) && !isShown(element)) problems.push('no visible focus: ' + nameOf(element));
      if (isInOrder) last = element;
      reached.add(element);
      return true;
    },
    /** Gives the focus to the member that Tab reaches of a group with other members; false when there is no such group. */
    enter(index) {
      this.groups ??= [...new Set([...reached].map(groupOf).filter(Boolean))].filter((group) => controls().some((each) => !reached.has(each) && groupOf(each) === group));
      const group = this.groups[index];
      if (!group) return false;
      [...reached].find((each) => groupOf(each) === group).focus();
      return true;
    },
    missing() {
      // A label or a cell with a handler is usable by the control inside of it.
      const isReached = (element) => reached.has(element) || [...reached].some((each) => element.contains(each));
      return [...problems, ...controls().filter((element) => !isReached(element)).map((element) => 'not reached: ' + nameOf(element))];
    },
  };
})(); 0`;

describe.skipIf(!HAS_BROWSER)(`every page by keyboard${REASON}`, { timeout: TIMEOUT_MS }, () => {
  const given = WORLDS[0]!;
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startWorld(given);
  }, TIMEOUT_MS);
  afterAll(() => world?.close());

  const walk = async (page: Page) => {
    await page.evaluate(IN_PAGE);
    await page.evaluate('document.activeElement?.blur()');
    let stops = 0;
    do {
      await page.pressKey('Tab');
      stops++;
    } while (stops < MOST_STOPS && (await page.evaluate<boolean>('walk.note(true)')));
    for (let group = 0; await page.evaluate<boolean>(`walk.enter(${group})`); group++) {
      for (const key of ['ArrowDown', 'ArrowRight', 'ArrowUp'] as const) {
        await page.evaluate(`walk.enter(${group})`);
        do {
          await page.pressKey(key);
          // The list of objects moves the focus in the next frame.
          await page.evaluate(
            'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)))',
          );
        } while (await page.evaluate<boolean>('walk.note(false)'));
      }
    }
    return stops;
  };

  test.each(pagesOf(given))('/$path', async ({ path, isShown }) => {
    const page = await world.browser.newPage();
    await page.resize(1440, 900);
    await page.go(`${world.engine.url}/console/${path}#admin-secret=${world.engine.adminSecret}`);
    await page.until(isShown);
    const stops = await walk(page);
    expect([stops > 5 && stops < MOST_STOPS, await page.evaluate('walk.missing()')]).toEqual([true, []]);
    await page.close();
  });

  test('Enter goes into an editor and Esc leaves it, after it has closed the suggestions', async () => {
    const page = await world.browser.newPage();
    await page.go(`${world.engine.url}/console/#admin-secret=${world.engine.adminSecret}`);
    await page.until(`document.querySelector('.view-lines')?.innerText.includes('query')`);
    const isInside = `document.activeElement.closest('.monaco-editor') !== null`;
    await page.evaluate(`document.querySelector('.graphiql-editor').focus()`);
    await page.pressKey('Tab');
    expect(await page.evaluate(isInside)).toBe(false);
    await page.evaluate(`document.querySelector('.graphiql-editor').focus()`);
    await page.pressEnter();
    await page.until(isInside);
    await page.pressKey('Space', 'control');
    await page.until(`document.querySelector('.suggest-widget.visible') !== null`);
    await page.pressKey('Escape');
    await page.until(`document.querySelector('.suggest-widget.visible') === null`);
    expect(await page.evaluate(isInside)).toBe(true);
    await page.pressKey('Escape');
    expect(await page.evaluate(`document.activeElement.className`)).toContain('graphiql-editor');
    await page.close();
  });
});
