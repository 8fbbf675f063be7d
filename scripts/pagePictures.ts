/**
 * Takes the pictures of the web page for README and docs, in a real browser: a sandbox with a fault, and the admin port of
 * its service in an outage. `npm run record -- pictures`
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import type { FaultRequest } from '../sandbox/backends/calls/faults.ts';
import { demonstrate } from '../sandbox/demonstration/demonstrate.ts';
import { startSandbox } from '../sandbox/sandbox.ts';
import { envelope } from '../sandbox/stories/wire.ts';
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
const out: FaultRequest = { backend: 'informationModel', status: 503 };

try {
  await demonstrate(sandbox, { tell: sandbox.tell });
  backends.faults.add({ backend: 'principalManager', delayMs: 800, times: 20 });
  await picture('sandbox', `${state.page?.url}/`, async (page) => {
    await page.getByText('A pump registers itself').waitFor();
    await page.getByText('delayMs 800').waitFor();
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

async function picture(name: string, url: string, until: (page: Page) => Promise<void>): Promise<void> {
  const page = await browser.newPage({ viewport: size, colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto(url);
  await until(page);
  await page.screenshot({ path: join(pictures, `${name}.png`) });
  await page.close();
  console.log(`wrote ${join(pictures, `${name}.png`)}`);
}
