import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { folderForAll, startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';
import { execFile, spawn } from '../../sandbox/service/endWithUs.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { readRecording } from '../../scripts/recording/series.ts';
import { type Firing, firing, isMissing, isSkipped, type Played } from './promtool.ts';

// The real Alertmanager is given the alerts of recorded troubles, as the rules fire.

const shipped = 'deploy/monitoring/alertmanager.yaml';
const program = 'prometheus-alertmanager';
const isAlone = isSkipped || isMissing(program) || isMissing('amtool');
const soon = { timeout: 30_000, interval: 100 };

type Labels = Readonly<Record<string, string>>;
interface Notification {
  readonly receiver: string;
  readonly groupKey: string;
  readonly alerts: readonly { readonly status: string; readonly labels: Labels }[];
}
interface Known {
  readonly labels: Labels;
  readonly status: { readonly state: string };
}

/** With the routes that ship, at once instead of after half a minute. */
async function startAlertmanager(folder: string) {
  const notifications: Notification[] = [];
  const receiver = createServer(async (request, response) => {
    notifications.push(JSON.parse(await text(request)));
    response.end();
  });
  const { port, close } = await listening(receiver);
  const file = join(folder, 'alertmanager.yaml');
  const config = readFileSync(shipped, 'utf8')
    .replace(/http:\/\/(pager|tickets)\.example\//g, `http://127.0.0.1:${port}/`)
    .replace(/(group_wait|group_interval): \w+/g, '$1: 1s');
  writeFileSync(file, config);
  const address = `127.0.0.1:${await freePort()}`;
  const args = [`--config.file=${file}`, `--storage.path=${join(folder, 'data')}`, `--web.listen-address=${address}`];
  const child = spawn(program, [...args, '--cluster.listen-address='], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const url = `http://${address}`;
  await vi.waitFor(async () => expect((await fetch(`${url}/-/ready`)).ok).toBe(true), soon);
  return {
    notifications,
    async tell(alerts: readonly Labels[]) {
      const body = JSON.stringify(alerts.map((labels) => ({ labels, endsAt: new Date(Date.now() + 3_600_000) })));
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(`${url}/api/v2/alerts`, { method: 'POST', headers, body });
      expect(status).toBe(200);
    },
    async known(namespace: string) {
      const answer = await fetch(`${url}/api/v2/alerts?filter=namespace%3D%22${namespace}%22`);
      return (await answer.json()) as readonly Known[];
    },
    async close() {
      child.kill();
      await ended;
      await close();
    },
  };
}

const fleet = 'one of three killed';
const halfMinutes = Array.from({ length: 48 }, (_, index) => index / 2);

/** Each alert that fires once, in the order in which they begin. */
async function alertsOf(played: Played, seconds: number): Promise<readonly Labels[]> {
  const { scrapes } = readRecording(played.recording);
  const minutes = seconds === 30 ? halfMinutes : Array.from({ length: scrapes }, (_, index) => index);
  const fired = await firing([played], minutes, { scrapeSeconds: seconds });
  const labelsOf = ({ alert, severity, job = '' }: Firing): Labels => ({
    ...{ alertname: alert, severity, namespace: played.namespace, job, service: 'device-messaging' },
  });
  const ours = fired.filter(({ namespace }) => namespace === played.namespace);
  return [...new Map(ours.map((one) => [`${one.alert} ${one.job}`, labelsOf(one)])).values()];
}

describe.skipIf(isAlone)('alertmanager, of the Debian package prometheus-alertmanager,', () => {
  const folder = folderForAll('alertmanager');
  const alertmanager = startForAll(() => startAlertmanager(folder));
  const paged = (namespace: string) =>
    alertmanager.notifications.filter(
      ({ receiver, groupKey }) => receiver === 'pager' && groupKey.includes(`namespace="${namespace}"`),
    );

  it('takes the example', async () => {
    const { stdout } = await promisify(execFile)('amtool', ['check-config', shipped]);
    expect(stdout).toContain('SUCCESS');
  });

  it.each([
    ['page', 'pager'],
    ['ticket', 'tickets'],
  ])('sends a %s to the %s', async (severity, receiver) => {
    const args = ['config', 'routes', 'test', `--config.file=${shipped}`, `severity=${severity}`];
    expect((await promisify(execFile)('amtool', args)).stdout.trim()).toBe(receiver);
  });

  it.each([
    ['ServiceAbsent', { recording: fleet, namespace: 'gone', silent: { from: 10 }, ends: 12, lasts: 48 }, 30],
    ['PartitionUnread', { recording: 'killed and not yet replaced', namespace: 'killed' }, 60],
    ['StoreFails', { recording: 'store away', namespace: 'store' }, 60],
    ['NotReady', { recording: 'hub says nothing', namespace: 'hub' }, 60],
    ['BackendOut', { recording: 'falling behind', namespace: 'behind' }, 60],
  ] as const)('pages once in an outage, with %s, and mutes what follows from it', async (page, played, seconds) => {
    const { namespace } = played;
    const fired = await alertsOf(played, seconds);
    const first = fired.filter(({ alertname }) => alertname === page);
    expect(first).toHaveLength(1);
    await alertmanager.tell(first);
    await expect.poll(() => paged(namespace).length, soon).toBe(1);
    await alertmanager.tell(fired);
    const active = async () =>
      (await alertmanager.known(namespace)).filter(
        ({ labels, status }) => labels['severity'] === 'page' && status.state === 'active',
      );
    await expect.poll(async () => (await alertmanager.known(namespace)).length, soon).toBe(fired.length);
    await expect.poll(async () => (await active()).map(({ labels }) => labels['alertname']), soon).toEqual([page]);
    expect(paged(namespace)).toHaveLength(1);
  });

  it('pages once for what service and front door have both, and again for another environment', async () => {
    const alert = { alertname: 'BackendOut', severity: 'page', service: 'device-messaging' };
    const jobs = ['device-messaging', 'device-messaging-methods'];
    for (const namespace of ['east', 'west']) {
      await alertmanager.tell(jobs.map((job) => ({ ...alert, namespace, job })));
      await expect.poll(() => paged(namespace).length, soon).toBe(1);
      expect(
        paged(namespace)[0]
          ?.alerts.map(({ labels }) => labels['job'])
          .toSorted(),
      ).toEqual(jobs);
    }
  });
});
