import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { createSetups } from '../../edge/src/invocations/setups.ts';
import { createLog } from '../../edge/src/observing/log.ts';
import { createMeter } from '../../edge/src/observing/metrics.ts';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { configuration as first, modules, pressObject, seriesOf } from './support/testProxy.ts';

// A configuration takes the place of another one while invocations are in progress (M10, D212).

const [press, bus, camera] = modules as [(typeof modules)[0], (typeof modules)[0], (typeof modules)[0]];

const folder = folderForAll('edge');

let lines: Record<string, unknown>[];
let subscribed: (readonly string[])[];
let reconnected: string[];
beforeEach(() => ([lines, subscribed, reconnected] = [[], [], []]));
const logged = (event: string) => lines.filter((line) => line['event'] === event);

function start(resubscribe = async () => {}, configuration = first) {
  const meter = createMeter();
  const setups = createSetups({
    ...{ configuration, meter },
    log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }),
    resubscribe() {
      subscribed.push(setups.topics.all());
      return resubscribe();
    },
    reconnect: (peer) => void reconnected.push(peer),
  });
  const refused = 'device_messaging.edge.configuration.refused';
  return { ...setups, isRefused: () => seriesOf(meter, refused).map(({ sum }) => sum) };
}

it('the topics of a next configuration are subscribed to before it is in effect, and former ones afterwards', async () => {
  let subscribe = () => {};
  const setups = start(() => new Promise((resolve) => (subscribe = resolve)));
  const next = { ...first, modules: [{ ...press, topics_methods_out: 'press/next' }, camera] };
  const taking = setups.take(next);
  await vi.waitFor(() => expect(subscribed).toHaveLength(1));
  expect(subscribed).toEqual([['press/out', 'bus/out', 'camera/out', 'press/next']]);
  expect([setups.current().configuration, setups.topics.moduleOf('press/next')]).toEqual([first, 'press']);
  subscribe();
  await taking;
  expect(setups.current().configuration).toBe(next);
  expect(subscribed.slice(1)).toEqual([['press/next', 'camera/out']]);
  expect(setups.topics.moduleOf('press/out')).toBeUndefined();
  expect(setups.current().route(pressObject, '')).toMatchObject({ module: next.modules[0] });
  expect(logged('configuration.taken')).toMatchObject([{ modules: 2 }]);
  expect([logged('configuration.restart_needed'), reconnected]).toEqual([[], []]);
});

it('a topic is kept until the last invocation with it has ended', async () => {
  const setups = start();
  const holds = [setups.topics.hold([press]), setups.topics.hold([press])];
  await setups.take({ ...first, modules: [bus] });
  const before = subscribed.length;
  holds[0]?.();
  expect([setups.topics.all(), setups.topics.moduleOf('press/out')]).toEqual([['bus/out', 'press/out'], 'press']);
  expect(subscribed).toHaveLength(before);
  holds[1]?.();
  expect(subscribed.slice(before)).toEqual([['bus/out']]);
  setups.topics.hold([bus])();
  expect(subscribed).toHaveLength(before + 1);
});

it('a broker that does not answer holds up a configuration for ten seconds', async () => {
  vi.useFakeTimers();
  const setups = start(() => new Promise(() => {}));
  const next = { ...first };
  const taking = setups.take(next);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(setups.current().configuration).toBe(first);
  await vi.advanceTimersByTimeAsync(1);
  await taking;
  expect(setups.current().configuration).toBe(next);
});

it('a peer with other credentials or another address is connected to anew', async () => {
  const setups = start();
  const broker = { ...first.broker, password: 'x' };
  await setups.take({ ...first, broker });
  expect(reconnected).toEqual(['broker']);
  await setups.take({ ...first, hub: { ...first.hub, ca: 'x' }, broker });
  expect(reconnected).toEqual(['broker', 'hub']);
});

it('settings of the process and another identity take effect at the next start', async () => {
  const setups = start();
  const others = { network: { ca: 'x' }, health: { ...first.health, port: 1 }, log: { ...first.log, pretty: true } };
  const hub = { ...first.hub, connectionString: first.hub.connectionString.replace('DeviceId=d', 'DeviceId=e') };
  await setups.take({ ...first, ...others, hub });
  expect(logged('configuration.restart_needed')).toMatchObject([{ settings: ['network', 'health', 'log', 'hub'] }]);
  expect([setups.current().configuration.hub, reconnected]).toEqual([first.hub, []]);
  await setups.take({ ...first, log: { ...first.log, level: 'warn' } });
  expect(logged('configuration.restart_needed')[1]).toMatchObject({ settings: ['log'] });
});

it('ten problems of a refused configuration are shown until one is taken', async () => {
  const setups = start();
  expect([setups.isRefused(), setups.remarks()]).toEqual([[0], {}]);
  const problems = Array.from({ length: 11 }, (_, index) => `problem ${index}`);
  setups.refuse(problems);
  expect(logged('configuration.refused')).toMatchObject([{ level: 'error', problems: problems.slice(0, 10) }]);
  expect([setups.isRefused(), setups.remarks()]).toEqual([[1], { refusedConfiguration: problems.slice(0, 10) }]);
  expect(setups.current().configuration).toBe(first);
  await setups.take(first);
  expect([setups.isRefused(), setups.remarks()]).toEqual([[0], {}]);
});

it('folders of modules that cannot be used are reported, at the start and when a configuration is taken', async () => {
  await writeFile(join(folder, 'file'), '');
  const files = { folder: join(folder, 'file'), quotaBytes: 1, mostFiles: 1, mode: '0640' };
  const setups = start(undefined, { ...first, modules: [{ ...press, files }, bus] });
  await setups.prepareFolders();
  const unusable = { level: 'error', module: 'press', cause: 'EEXIST' };
  expect(logged('module.folder_unusable')).toMatchObject([unusable]);
  await setups.take({ ...first, modules: [{ ...press, files: { ...files, folder: join(folder, 'new') } }] });
  expect(logged('module.folder_unusable')).toHaveLength(1);
  await setups.take({ ...first, modules: [{ ...press, files }] });
  expect(logged('module.folder_unusable')).toMatchObject([unusable, unusable]);
});
