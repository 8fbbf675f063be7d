/**
 * Takes the pictures of the web page for README and docs, in a real browser: a sandbox with a fault, and the admin port of
 * its service in an outage. `npm run record -- pictures`
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import type { FaultRequest } from '../sandbox/backends/calls/faults.ts';
import { startSandbox } from '../sandbox/sandbox.ts';
import { stories } from '../sandbox/stories/index.ts';
import { envelope, propertiesOf } from '../sandbox/stories/wire.ts';
import { findBrowser } from '../test/browser/findBrowser.ts';

const pictures = 'docs/pictures';
const size = { width: 1120, height: 640 };

const executablePath = findBrowser();
if (executablePath === undefined) throw new Error('There is no browser here: install chromium, or set BROWSER_PROGRAM');

await mkdir(pictures, { recursive: true });
const directory = await mkdtemp(join(tmpdir(), 'pictures-'));
const sandbox = await startSandbox({ directory, page: true });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const { backends, state } = sandbox;
const [first, ...others] = stories;
const out: FaultRequest = { backend: 'informationModel', status: 503 };

try {
  for (const { message, example } of [first, ...others].flatMap((story) => story ?? []))
    await exchange(message, example);
  backends.faults.add({ ...out, method: 'POST', path: '/object', times: 1 });
  if (first)
    await exchange(first.message, {
      ...first.example,
      id: 'second-boot',
      body: first.example.body.replace('TP-7', 'TP-8'),
    });
  backends.faults.add({ backend: 'principalManager', delayMs: 800, times: 20 });
  await picture('sandbox', `${state.page?.url}/#/messages`, async (page) => {
    await page.getByRole('listbox').getByRole('option').first().click();
    await page.getByText('completed').last().waitFor();
  });

  backends.faults.clear();
  backends.faults.add(out);
  const devices = await Promise.all(['pump-1', 'pump-2', 'gateway-1'].map((id) => sandbox.connect(id)));
  const body = Buffer.from('{"model":"svc.device","type":"pump","properties":{"serial":"P-1"}}');
  for (let sent = 0; sent < 5; sent += 1)
    for (const device of devices) await device.send(envelope('model.create', `boot-${sent}`), body);
  await picture('operators', `${state.service.adminUrl}/page/`, async (page) => {
    await page.getByText('✗ open').waitFor();
    await page.getByText('backend is out').first().waitFor();
  });
  await Promise.all(devices.map((device) => device.close()));
  backends.faults.clear();
} finally {
  await browser.close();
  await sandbox.close();
  await rm(directory, { recursive: true, force: true });
}

async function exchange(message: string, example: NonNullable<typeof first>['example']): Promise<void> {
  const device = await sandbox.connect(example.device ?? 'pump-1');
  await device.send(propertiesOf(message, example), Buffer.from(example.body));
  for (;;) {
    const reply = await device.next(30_000);
    const { msgType, 'svc-messagetype': ofEvent } = reply?.properties ?? {};
    if (reply === undefined || msgType === 'ack' || ofEvent === 'platformEventAck') break;
  }
  await device.close();
}

async function picture(name: string, url: string, until: (page: Page) => Promise<void>): Promise<void> {
  const page = await browser.newPage({ viewport: size, colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto(url);
  await until(page);
  await page.screenshot({ path: join(pictures, `${name}.png`) });
  await page.close();
  console.log(`wrote ${join(pictures, `${name}.png`)}`);
}
