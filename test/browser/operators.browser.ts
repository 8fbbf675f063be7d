import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { startTestSandbox } from '../e2e/testSandbox.ts';
import { accessibilityProblems, foreignPage, isSkipped, isTooWide, patienceMs, useBrowser } from './browser.ts';

const token = 'the-token-of-the-operators';
const views = ['now', 'waiting', 'letters', 'follow', 'fleet'] as const;

describe.skipIf(isSkipped)('the page of the admin port', () => {
  let sandbox: Sandbox;
  let url: string;
  beforeAll(async () => {
    sandbox = await startTestSandbox({ environment: { ADMIN_TOKEN: token, ADMIN_INSTANCES: '127.0.0.1:1' } });
    url = `${sandbox.state.service.adminUrl}/page/`;
  }, patienceMs * 2);
  afterAll(() => sandbox?.close(), patienceMs);
  const open = useBrowser();

  async function entered(page: Page): Promise<Page> {
    await page.getByLabel(/^Token/).fill(token);
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.getByText('live, read-only').waitFor();
    return page;
  }
  it('asks for the token, keeps it in memory only, and asks again after a reload', async () => {
    const page = await open(url);
    // No header can have a quote such as these.
    for (const wrong of ['“pasted”', 'a-wrong-one']) {
      await page.getByLabel(/^Token/).fill(wrong);
      await page.getByRole('button', { name: 'Use it' }).click();
      await page.getByText('a bearer token is needed').waitFor();
    }
    await entered(page);
    const all = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])';
    const stored = await page.evaluate(all);
    expect(stored).not.toContain(token);
    await page.reload();
    await page.getByLabel(/^Token/).waitFor();
  });
  it('shows an outage: the open circuit, the trouble, the devices that wait, and for what; and only reads', async () => {
    const page = await open(url);
    const methods = new Set<string>();
    page.on('request', (request) => methods.add(request.method()));
    await entered(page);
    await page.getByRole('row').filter({ hasText: '✓ closed' }).first().waitFor();
    sandbox.backends.faults.add({ backend: 'informationModel', status: 503 });
    onTestFinished(() => void sandbox.backends.faults.clear());
    const body = Buffer.from('{"model":"svc.device","type":"pump","properties":{"serial":"S"}}');
    // Of several devices: one alone is not believed.
    for (const id of ['pump-1', 'pump-2', 'gateway-1', 'motor-1']) {
      const device = await sandbox.connect(id);
      onTestFinished(() => device.close());
      for (let sent = 0; sent < 5; sent += 1) await device.send(envelope('model.create', `outage-${sent}`), body);
    }
    await page.getByRole('row').filter({ hasText: '✗ open' }).first().waitFor();
    await page.getByRole('region', { name: 'Troubles' }).getByText('backend is out, calls to it wait').waitFor();
    await page.getByRole('link', { name: 'Waiting devices' }).click();
    await page.getByRole('row').filter({ hasText: 'pump-1' }).filter({ hasText: 'outage' }).waitFor();
    sandbox.backends.faults.clear();
    await page.getByRole('link', { name: 'Now' }).click();
    await page.getByRole('region', { name: 'Backends' }).waitFor();
    await expect.poll(() => page.getByText('✗ open').count(), { timeout: patienceMs }).toBe(0);
    expect([...methods]).toEqual(['GET']);
  });
  it('follows a device live, and shows what it sends as text', async () => {
    const page = await entered(await open(`${url}#/follow`));
    await page.getByLabel('Device', { exact: true }).fill('pump-2');
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.getByText('following …').waitFor();
    const device = await sandbox.connect('pump-2');
    onTestFinished(() => device.close());
    await device.send(envelope('model.create', '<img src=x>'), Buffer.from('{"model":"<img src=x>"}'));
    const option = (name: RegExp) => page.getByRole('option', { name }).first();
    await option(/handled/).click();
    await option(/<img src=x>/).waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });
  it('follows the device of the link, not the one that was written before', async () => {
    const page = await entered(await open(`${url}#/follow`));
    const field = page.getByLabel('Device', { exact: true });
    await field.fill('pump-1');
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.getByText('following …').waitFor();
    await page.evaluate(`location.hash = '#/follow?device=pump-9'`);
    await page.getByText('node dist/tap.js --device pump-9', { exact: true }).waitFor();
    expect(await field.inputValue()).toBe('pump-9');
    await field.fill('');
    expect(await field.inputValue()).toBe('');
  });
  it('says how many devices it does not list, and what it does not know', async () => {
    const page = await open(url);
    const partitions = [1_000, null].map((behindSeconds, index) => ({ partition: String(index), behindSeconds }));
    const devices = { devices: [], further: 0 };
    const fullQueues = { devices: [{ device: 'full', replies: 1, seconds: 1 }], further: 7 };
    const answers = {
      fleet: { members: [{ address: 'one', partitions }], unread: [] },
      'devices?*': { ...devices, fullQueues, notFetching: { devices: ['asleep'], further: 8 } },
    };
    for (const [path, json] of Object.entries(answers))
      await page.route(`**/${path}`, (route) => route.fulfill({ json }));
    await entered(page);
    await page.getByRole('link', { name: 'Instances' }).click();
    await page.getByRole('row').filter({ hasText: 'not known' }).waitFor();
    await page.getByRole('link', { name: 'Waiting devices' }).click();
    for (const more of ['and 7 more', 'and 8 more']) await page.getByText(more).waitFor();
  });
  it('prints the commands for dead letters, and does none of it', async () => {
    const page = await entered(await open(`${url}#/letters?device=it%27s`));
    await page.getByText("node dist/deadLetters.js replay --device 'it'\\''s'", { exact: true }).waitFor();
    await page.getByText('none').first().waitFor();
  });
  it.each(views)('is accessible in its view %s, light and dark, and fits into 400 pixels', async (view) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width: colorScheme === 'light' ? 400 : 1_600, height: 800 };
      const page = await entered(await open(`${url}#/${view}`, { colorScheme, bypassCSP: true, viewport }));
      await page.getByRole('heading', { level: 2 }).first().waitFor();
      expect(await accessibilityProblems(page), colorScheme).toEqual([]);
      expect(await isTooWide(page)).toBe(false);
    }
  });
  it('gives nothing without the token but the page itself, and a foreign page nothing at all', async () => {
    const { adminUrl } = sandbox.state.service;
    const views = ['/', '/partitions', '/devices', '/backends', '/replies', '/troubles', '/dead-letters', '/settings'];
    const paths = [...views, '/tap?device=pump-1'];
    for (const path of paths) expect((await fetch(adminUrl + path)).status, path).toBe(401);
    for (const path of ['/page/../settings', '/page/%2e%2e/settings', '/page/constructor'])
      expect((await fetch(adminUrl + path)).ok, path).toBe(false);
    const page = await open(await foreignPage());
    const got = await page.evaluate(
      async ([target = '', all = '', secret = '']) => {
        const said: string[] = [];
        for (const path of ['/page/', '/page/page.js', ...all.split(' ')]) {
          for (const headers of [{}, { authorization: `Bearer ${secret}` }]) {
            const answer = await fetch(target + path, { headers }).catch(() => undefined);
            if (answer?.ok) said.push(path);
          }
        }
        return said;
      },
      [adminUrl, paths.join(' '), token],
    );
    expect(got).toEqual([]);
  });
});
