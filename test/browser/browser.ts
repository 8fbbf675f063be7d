import { createServer } from 'node:http';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { browserNames, findBrowser } from './findBrowser.ts';

const program = findBrowser();

/** No browser here: the tests are skipped, and fail in CI. */
export const isSkipped = program === undefined && process.env['CI'] !== 'true';

/** A longer limit than any of these waits has on a busy machine. */
export const patienceMs = 120_000;

/** A browser for all tests of a file. The answer opens a page in a session of its own, which ends with the test. */
export function useBrowser(): (url: string, options?: BrowserContextOptions) => Promise<Page> {
  let browser: Browser;
  beforeAll(async () => {
    if (program === undefined) throw new Error(`There is none of ${browserNames.join(', ')} in the path`);
    // Root has no sandbox for its processes.
    browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
  }, patienceMs);
  afterAll(() => browser?.close());

  return async (url, options = {}) => {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    onTestFinished(() => context.close());
    context.setDefaultTimeout(patienceMs);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/^Failed to load resource|blocked by CORS policy/.test(message.text()))
        problems.push(message.text());
    });
    onTestFinished(() => expect(problems, 'errors in the page').toEqual([]));
    await page.goto(url);
    return page;
  };
}

export const row = (page: Page, which?: Parameters<Page['getByRole']>[1]): Locator =>
  page.getByRole('listbox').getByRole('option', which);

/** What is wrong with the accessibility of a page (WCAG 2.2 A and AA, and best practices). */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}

/** The address of a page that is none of ours, until the end of the test. */
export async function foreignPage(): Promise<string> {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>foreign</title>'),
  );
  return `http://127.0.0.1:${await portForTest(server)}/`;
}

export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
