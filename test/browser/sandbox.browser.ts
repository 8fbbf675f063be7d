import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { demonstrate } from '../../sandbox/demonstration/demonstrate.ts';
import { demonstrateMethods } from '../../sandbox/demonstration/demonstrateMethods.ts';
import { pageDirectory } from '../../sandbox/page/pageServer.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { stories } from '../../sandbox/stories/index.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { startTestSandbox } from '../e2e/testSandbox.ts';
import { accessibilityProblems, foreignPage, isSkipped, isTooWide, patienceMs, row, useBrowser } from './browser.ts';

const views = ['messages', 'send', 'invoke', 'faults', 'devices', 'objects'] as const;

describe.skipIf(isSkipped)('the page of the sandbox', () => {
  let sandbox: Sandbox;
  let url: string;
  beforeAll(async () => {
    sandbox = await startTestSandbox({ page: true, methods: 'running', edge: true });
    url = sandbox.state.page?.url ?? '';
    await demonstrateMethods(sandbox, { tell: sandbox.tell });
    await demonstrate(sandbox, { tell: sandbox.tell });
  }, patienceMs * 2);
  afterAll(() => sandbox?.close(), patienceMs);
  beforeEach(() => {
    sandbox.backends.faults.clear();
    sandbox.hub.faults.clear();
  });
  const open = useBrowser();

  const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).click();
  const way = (page: Page) => page.getByRole('region', { name: 'The way of the message' });

  it('opens on the story of one message, and says of a failure in the demonstration that it is expected', async () => {
    const page = await open(url);
    await page.getByText('A pump registers itself').waitFor();
    await way(page).getByText('POST /object').waitFor();
    await row(page, { selected: true }).getByText('model.create').waitFor();
    await row(page, { name: 'method fly' }).getByText('expected 404').waitFor();
    await row(page, { name: 'informationModel' }).waitFor({ state: 'detached' });
  });
  it('shows the way of a message as a list on a phone, with who speaks to whom', async () => {
    const page = await open(url, { viewport: { width: 390, height: 844 } });
    const box = await way(page).getByRole('listitem').first().getByText('device to hub:').boundingBox();
    expect(box?.width).toBeGreaterThan(50);
    expect(await page.locator('.lanes').isVisible()).toBe(false);
    expect(await accessibilityProblems(page)).toEqual([]);
  });
  it('shows no backticks, and which fault is on among all', async () => {
    sandbox.hub.faults.add({ kind: 'no-events' });
    const page = await open(`${url}/#/faults`);
    await page.getByText('⚡ on').waitFor();
    for (const view of views) {
      await page.goto(`${url}/#/${view}`);
      await page.locator('main :is(h2, [role=option])').first().waitFor();
      expect(await page.locator('body').innerText(), view).not.toContain('`');
    }
  });
  it('sends a message by the form, and shows its way from the device to the acknowledgement', async () => {
    const page = await open(`${url}/#/send`);
    await page.getByLabel('Device', { exact: true }).fill('pump-new');
    await page.getByLabel('correlationId').fill('by-the-form');
    await page.getByRole('group', { name: 'Body' }).getByLabel('name', { exact: true }).fill('Pump of the form');
    await send(page);
    const steps = way(page).getByRole('listitem');
    await steps.filter({ hasText: 'completed' }).first().waitFor();
    const texts = (await steps.allInnerTexts()).join('\n');
    for (const text of ['device to hub', 'hub to service', 'service to information model', 'POST /object', '201 after'])
      expect(texts).toContain(text);
    for (const text of ['service to hub: ack', 'hub to device: delivered'])
      expect(texts.replace(/\s+/g, ' ')).toContain(text);
    expect(await row(page, { selected: true }).innerText()).toMatch(/pump-new.*model\.create.*ok/s);
    const [sent] = sandbox.hub.journal.list({ deviceId: 'pump-new', kind: 'd2c' });
    expect(sent?.body.toString()).toContain('"runningHours": 9007199254740993');
    expect(sent?.body.toString()).toContain('"name": "Pump of the form"');
    expect(sent?.body.toString()).toContain('"serial": "TP-7-pump-new"');
  });
  it('turns a fault on, keeps it in sight on every view, and shows what it did and the retry', async () => {
    const page = await open(`${url}/#/faults`);
    await page.getByText('A backend answers with an error').click();
    const form = page.locator('details[open] form');
    await form.getByLabel('status').fill('503');
    await form.getByLabel('times').fill('1');
    await form.getByLabel('method', { exact: true }).selectOption('POST');
    await form.getByLabel('path').fill('/object');
    await form.getByRole('button', { name: 'Turn on' }).click();
    const bar = page.getByRole('region', { name: 'Faults that are on' });
    await bar.getByText('informationModel').waitFor();
    await page.getByRole('link', { name: 'Send' }).click();
    expect(await bar.isVisible()).toBe(true);
    await page.getByRole('group', { name: 'Body' }).getByLabel('properties').fill('{ "serial": "retried" }');
    await page.getByLabel('correlationId').fill('retried');
    await send(page);
    await way(page).getByText('attempt 2').waitFor();
    await way(page).getByText('201 after').waitFor();
    await way(page).getByText('fault-').first().waitFor();
    await way(page).getByText('503 after').waitFor();
    await bar.waitFor({ state: 'hidden' });
  });
  it('ends a fault that is on', async () => {
    sandbox.hub.faults.add({ kind: 'no-events' });
    const page = await open(`${url}/#/objects`);
    await page.getByRole('button', { name: /^Turn off: hub: no-events/ }).click();
    await expect.poll(() => sandbox.hub.faults.list()).toEqual([]);
  });
  it('shows what devices send as text, in every field', async () => {
    const evil = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>"'&`;
    const deviceId = 'pump-1';
    const device = await sandbox.connect(deviceId);
    onTestFinished(() => device.close());
    const mark = sandbox.hub.journal.last;
    const body = { model: 'svc.device', type: 'pump', name: evil, properties: { serial: evil } };
    const zipped = gzipSync(JSON.stringify(body)).toString('base64');
    await device.send({ ...envelope('model.create', evil), [evil]: evil }, Buffer.from(JSON.stringify(body)));
    await device.send({ ...envelope(evil, 'x'), target: evil }, Buffer.from(evil));
    await device.send({ ...envelope('model.create', 'zip'), 'content-encoding': 'gzip' }, Buffer.from(zipped));
    await device.send({ action: evil }, Buffer.from([0xff, 0x00, 0x3c]));
    await expect
      .poll(() => sandbox.hub.journal.list({ since: mark, kind: 'c2d-settled' }).length, { timeout: patienceMs })
      .toBeGreaterThan(2);
    const page = await open(`${url}/`);
    const positions = sandbox.hub.journal.list({ since: mark, kind: 'd2c' }).map(({ position }) => position);
    for (const position of positions) {
      await page.goto(`${url}/#/messages?open=${position}`);
      await page.getByRole('article', { name: 'What was said' }).waitFor();
      for (const step of await way(page).getByRole('button').all()) await step.click();
    }
    for (const view of [`messages?filter=${encodeURIComponent(evil)}`, 'objects', 'devices?device=pump-1']) {
      await page.goto(`${url}/#/${view}`);
      await page.getByText('pump-1').first().waitFor();
    }
    await page.goto(`${url}/#/objects`);
    const button = page.getByRole('button', { name: evil.slice(0, 20) });
    await button.first().click();
    expect(await page.locator('img, script:not([src])').count()).toBe(0);
    expect(await page.title()).toBe('Sandbox');
  });
  it('follows its address from its first moment on, before the browser has drawn anything', async () => {
    const page = await open('about:blank');
    await page.addInitScript(`
      requestAnimationFrame = () => 0;
      addEventListener('DOMContentLoaded', () => (location.hash = '#/faults'));
    `);
    await page.goto(url);
    await page.locator('nav [aria-current=page]', { hasText: 'Faults' }).waitFor();
  });
  it('loses nothing in a reload: view, filter, opened message, pause and what was written', async () => {
    const page = await open(`${url}/#/send?message=model.update`);
    await page.getByLabel('correlationId').fill('half-written');
    await page.reload();
    expect(await page.getByLabel('correlationId').inputValue()).toBe('half-written');
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('model.update');
    await page.getByLabel('Message', { exact: true }).selectOption('model.create');
    await page.getByLabel('correlationId').fill('to-find');
    await send(page);
    await page.getByLabel('Filter').fill('to-find');
    await page.getByRole('button', { name: 'Pause' }).click();
    await row(page, { name: 'model.create' }).click();
    await page.reload();
    expect(await page.getByLabel('Filter').inputValue()).toBe('to-find');
    await page.getByRole('button', { name: /^Continue/ }).waitFor();
    await row(page, { selected: true }).waitFor();
    await page.getByRole('heading', { name: 'model.create' }).waitFor();
  });
  it('pauses: what comes meanwhile is counted, and shown after that', async () => {
    const page = await open(`${url}/#/messages`);
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await sandbox.hub.faults.strike({ kind: 'burst', events: 3, deviceId: 'pump-2' });
    await page.getByRole('button', { name: /^Continue \(([3-9]|\d\d+) newer\)/ }).click();
    const options = page.getByRole('option', { name: /pump-2/ });
    await options.first().waitFor();
  });
  it('is used with the keyboard alone', async () => {
    const device = await sandbox.connect('pump-1');
    onTestFinished(() => device.close());
    const body = Buffer.from('{"model":"svc.device","type":"pump","properties":{"serial":"K"}}');
    for (const id of ['with-keys', 'with-keys-again']) await device.send(envelope('model.create', id), body);
    const page = await open(`${url}/`);
    await row(page).first().waitFor();
    const press = (key: string) => page.keyboard.press(key);
    const focused = () =>
      page.evaluate<string>(`document.activeElement.getAttribute('role') ?? document.activeElement.textContent`);
    const tabTo = async (what: string) => {
      for (let presses = 0; presses < 60; presses += 1) {
        if ((await focused()).startsWith(what)) return;
        await press('Tab');
      }
      throw new Error(`The Tab key does not lead to ${what}`);
    };
    await tabTo('listbox');
    await press('ArrowDown');
    await row(page, { selected: true }).waitFor();
    await press('End');
    await expect.poll(async () => row(page, { selected: true }).getAttribute('aria-posinset')).not.toBe('1');
    await press('Home');
    await expect.poll(async () => row(page, { selected: true }).getAttribute('aria-posinset')).toBe('1');
    await way(page).waitFor();
    await page.goto(`${url}/#/messages`);
    await page.reload();
    await tabTo('Send');
    await press('Enter');
    await page.getByRole('heading', { name: 'Send a message as a device' }).waitFor();
    await tabTo('Send');
  });
  it('copies a message as commands that send it again', async () => {
    const page = await open(`${url}/#/send`, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByLabel('correlationId').fill('copied');
    await send(page);
    await page.getByRole('button', { name: 'Copy as npm run device' }).click();
    await page.getByText('copied: npm run device').waitFor();
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
    expect(await clipboard()).toContain('| npm run device -- --id pump-1 model.create -');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('copied: curl').waitFor();
    expect(await clipboard()).toContain(`${url}/messages`);
  });
  it('invokes a method by a form made from the type of its object, and shows the answer', async () => {
    const page = await open(`${url}/#/invoke`);
    await page.getByLabel('Method', { exact: true }).selectOption('configure');
    await page.getByLabel('rpm').fill('1450');
    await page.getByRole('button', { name: 'Invoke', exact: true }).click();
    await page.getByRole('heading', { name: /^Status 200/ }).waitFor();
    await page.getByRole('link', { name: 'Its way' }).click();
    await way(page).getByText('calls method configure').waitFor();
  });
  it.each(stories.map(({ message }) => message))('has an example of %s that works at once', async (message) => {
    const page = await open(`${url}/#/send?message=${message}`);
    await send(page);
    await way(page).waitFor();
    await row(page, { selected: true }).filter({ hasText: '✓ ok' }).waitFor();
    expect(await page.locator('main').innerText()).not.toContain('`');
  });
  it('shows a device with its twin and the messages that wait for it', async () => {
    const page = await open(`${url}/#/devices?device=motor-2`);
    await page.getByText('$version').waitFor();
  });
  it('draws the references between object models', async () => {
    const device = await sandbox.connect('pump-1');
    onTestFinished(() => device.close());
    const objectId = '0b1ec700-0000-4000-8000-0000000000aa';
    const body = { objectId, model: 'svc.device', type: 'pump', name: 'Drawn pump', properties: { serial: 'D' } };
    await device.send(envelope('model.create', 'drawn'), Buffer.from(JSON.stringify(body)));
    const [to] = sandbox.backends.world.objects.list().filter(({ model }) => model === 'svc.device');
    const references = JSON.stringify([{ name: 'feeds', to: { objectId: to?.objectId, model: 'svc.device' } }]);
    await device.send({ ...envelope('reference.create', 'drawn-2'), objectId }, Buffer.from(references));
    const page = await open(`${url}/#/objects`);
    const picture = page.getByRole('region', { name: 'References, as a picture' });
    await picture.getByRole('button', { name: 'Drawn pump' }).waitFor();
  });
  it('tells objects with one id apart by their tenants', async () => {
    const page = await open('about:blank');
    const [press] = sandbox.backends.world.objects.list().filter(({ name }) => name === 'Press');
    const { objectId, model, type } = press ?? { type: { ref: '' } };
    const references = [{ name: 'itself', to: { objectId, model } }];
    const data = ['acme', 'globex'].map((tenant) => ({
      ...{ tenant, name: `of ${tenant}`, path: tenant },
      ...{ objectId, model, type: type.ref, references },
    }));
    await page.route('**/world/objects', (route) => route.fulfill({ json: { data } }));
    await page.goto(`${url}/#/objects`);
    const picture = page.getByRole('region', { name: 'References, as a picture' });
    for (const { name } of data) {
      await page.getByRole('cell', { name, exact: true }).getByRole('button').click();
      await page.getByRole('heading', { name }).waitFor();
      await picture.locator('[aria-pressed=true]', { hasText: name }).waitFor();
    }
    expect(await page.getByRole('row').filter({ hasText: 'itself → of globex' }).count()).toBe(1);
    await page.goto(`${url}/#/invoke`);
    await page.getByLabel('Object', { exact: true }).selectOption({ label: `of globex (globex, ${type.ref})` });
    expect(await page.getByLabel('Object', { exact: true }).locator('option:checked').innerText()).toMatch('globex');
  });
  it('stays smooth with 10,000 messages: only rows in sight are in the document', async () => {
    const page = await open(`${url}/#/messages?filter=pump-2`);
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    await sandbox.hub.faults.strike({ kind: 'burst', events: 10_000, bytes: 200, deviceId: 'pump-2' });
    const list = page.getByRole('listbox');
    const rows = list.getByRole('option');
    await expect
      .poll(async () => Number(await rows.first().getAttribute('aria-setsize')), { timeout: patienceMs })
      .toBeGreaterThanOrEqual(10_000);
    expect(await rows.count()).toBeLessThan(100);
    await list.focus();
    await page.keyboard.press('End');
    await expect
      .poll(async () => rows.last().getAttribute('aria-posinset'))
      .toBe(await rows.first().getAttribute('aria-setsize'));
    expect(await rows.count()).toBeLessThan(100);
  });
  it.each(views)('is accessible in its view %s, light and dark', async (view) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open(`${url}/#/${view}`, { colorScheme, bypassCSP: true });
      await page.locator('main :is(h2, [role=option])').first().waitFor();
      if (view === 'messages') await row(page).first().click();
      expect(await accessibilityProblems(page), colorScheme).toEqual([]);
    }
  });
  it.each([400, 800, 1_600])('fits into a window of %s pixels', async (width) => {
    const page = await open(`${url}/`, { viewport: { width, height: 800 } });
    for (const view of views) {
      await page.goto(`${url}/#/${view}`);
      await page.locator('main :is(h2, [role=option])').first().waitFor();
      expect(await isTooWide(page), view).toBe(false);
    }
  });
  it('gives a foreign page nothing', async () => {
    const page = await open(await foreignPage());
    const mark = sandbox.hub.journal.last;
    const got = await page.evaluate(async (target) => {
      const said: string[] = [];
      const look = async (path: string, init?: RequestInit) => {
        const answer = await fetch(target + path, init).catch(() => undefined);
        if (answer?.ok || answer?.type === 'opaque')
          said.push(`${path} ${answer.type} ${(await answer.text()).length}`);
      };
      for (const path of ['/', '/page.js', '/sandbox', '/hub/devices', '/backends/world/objects', '/service/devices'])
        await look(path);
      const body = JSON.stringify({ deviceId: 'pump-1', properties: {}, body: 'foreign' });
      await look('/messages', { method: 'POST', body });
      await look('/messages', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
      await look('/hub/faults', { method: 'DELETE' });
      await look('/messages', { method: 'POST', body, mode: 'no-cors' });
      return said;
    }, url);
    expect(got).toEqual([]);
    expect(sandbox.hub.journal.list({ since: mark, kind: 'd2c' })).toEqual([]);
    const named = await fetch(`${url}/sandbox`, { headers: { origin: 'http://evil.example' } });
    expect(named.status).toBe(403);
  });
  it('has no more than 150 KB compressed, and fetches nothing from elsewhere', async () => {
    const files = ['index.html', 'page.js', 'page.css', 'icon.svg'].map((name) =>
      readFileSync(join(pageDirectory, name)),
    );
    expect(files.reduce((sum, file) => sum + gzipSync(file).length, 0)).toBeLessThan(150 * 1024);
    const page = await open('about:blank');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    for (const view of views) {
      await page.goto(`${url}/#/${view}`);
      await page.locator('main :is(h2, [role=option])').first().waitFor();
    }
    expect(asked.filter((one) => !one.startsWith(`${url}/`))).toEqual([]);
  });
});
