import { beforeAll, describe, expect, test } from 'vitest';
import { pageOf, rangeOf } from '../src/query/page.ts';
import { parseQuery } from '../src/query/parse.ts';
import { selectPage } from '../src/query/select.ts';
import type { JsonObject } from '../src/values/json.ts';
import { registryClient } from './support/clients.ts';
import { hubForAll } from './support/sharedHub.ts';

const argumentError = (message: string) =>
  expect.objectContaining({ condition: 'com.microsoft:argument-error', message: expect.stringContaining(message) });

const twins: JsonObject[] = [
  twin('d1', { region: 'US', floor: 1, group: 'a' }, { interval: 300, mode: 'wifi', ok: true }, 'enabled'),
  twin('d2', { region: 'DE', floor: 3 }, { interval: 60, mode: 'wired', ok: false, nothing: null }, 'enabled'),
  twin('d3', { region: 'US', floor: 2, 'odd name': 7 }, { interval: '60', more: { deep: [1] } }, 'disabled'),
  twin('d4', {}, {}, 'enabled'),
];

function twin(deviceId: string, place: JsonObject, reported: JsonObject, status: string): JsonObject {
  return { deviceId, status, tags: { place }, properties: { desired: {}, reported } };
}

const select = (query: string, count?: string, after?: string) =>
  selectPage(parseQuery(query), twins, (one) => one, rangeOf(after, count));
const idsOf = (query: string) => select(query).items.map(({ deviceId }) => deviceId);

test.each([
  ["tags.place.region = 'US'", ['d1', 'd3']],
  ['tags.place.region = "US" AND tags.place.floor > 1', ['d3']],
  ["tags.place.region <> 'US'", ['d2']],
  ["tags.place.region != 'US' or status='disabled'", ['d2', 'd3']],
  ["NOT tags.place.region = 'US'", ['d2', 'd4']],
  ["not (status = 'enabled' and tags.place.floor < 3)", ['d2', 'd3', 'd4']],
  ["STATUS = 'enabled' AND DeviceId >= 'd2'", ['d2', 'd4']],
  ["TAGS.Place.region = 'US'", []],
  ['properties.reported.interval >= 60', ['d1', 'd2']],
  ["properties.reported.interval < '7'", ['d3']],
  ["properties.reported.interval != '60'", ['d1', 'd2']],
  ["properties.reported.mode IN ['wired', 'wifi']", ['d1', 'd2']],
  ["properties.reported.mode nin ['wired']", ['d1']],
  ['properties.reported.interval in [0x3c, -1, true]', ['d2']],
  ['is_defined(properties.reported.nothing)', ['d2']],
  ['properties.reported.nothing = null', ['d2']],
  ['NOT IS_DEFINED(tags.place.region)', ['d4']],
  ['properties.reported.ok', ['d1']],
  ['properties.reported.ok = false', ['d2']],
  ['properties.reported.more.deep = properties.reported.more.deep', []],
  ['properties.reported.more != 1', []],
  ['undefined = undefined', []],
  ['tags.place.floor * 2 + 1 = 7 or tags.place.floor % 2 - 1 = 0', ['d1', 'd2']],
  ['-tags.place.floor <= -2 and 6 / tags.place.floor > 2.5e0', ['d3']],
  ['tags.place.floor / 0 = 1', []],
  ["tags.place.[[group]] = 'a'", ['d1']],
  ['tags.place.[[odd name]] = 7', ['d3']],
  [String.raw`tags.place.region = '\u0055S' and "it\'s" = 'it\'s'`, ['d1', 'd3']],
  ['tags.__proto__.x = 1 or is_defined(toString) or is_defined(tags.constructor)', []],
  [`${'('.repeat(99)}tags.place.floor${')'.repeat(99)} = 1`, ['d1']],
  ["'a' = 'a'", ['d1', 'd2', 'd3', 'd4']],
  ["StartsWith(properties.reported.mode, 'wi')", ['d1', 'd2']],
  ["NOT ENDSWITH(deviceId, '2') AND startswith(deviceId, 'd')", ['d1', 'd3', 'd4']],
  ["STARTSWITH(properties.reported.interval, '6') OR STARTSWITH('d2', deviceId)", ['d2', 'd3']],
  ['1', []],
])('a condition %s holds for %j', (condition, ids) =>
  expect(idsOf(`SELECT * FROM devices WHERE ${condition}`)).toEqual(ids),
);

describe('a query selects', () => {
  test.each([
    ['SELECT * FROM devices', twins],
    ['select*from DEVICES ;', twins],
    [' Select\n* From devices.modules;', twins],
    [
      "SELECT DeviceId, tags.place.floor AS level, tags.place.region, status FROM devices WHERE deviceId IN ['d1','d4']",
      [
        { deviceId: 'd1', level: 1, region: 'US', status: 'enabled' },
        { deviceId: 'd4', status: 'enabled' },
      ],
    ],
    ['SELECT COUNT() AS n FROM devices', [{ n: 4 }]],
    ["SELECT count() as n, min(tags.place.floor) as [[low floor]] FROM devices WHERE status = ''", [{ n: 0 }]],
    [
      'SELECT status AS s, COUNT() AS n, AVG(tags.place.floor) AS mean, SUM(tags.place.floor) AS sum, MIN(tags.place.floor) AS low, MAX(tags.place.floor) AS high FROM devices GROUP BY status',
      [
        { s: 'enabled', n: 3, mean: 2, sum: 4, low: 1, high: 3 },
        { s: 'disabled', n: 1, mean: 2, sum: 2, low: 2, high: 2 },
      ],
    ],
    [
      'SELECT tags.place.region, COUNT() AS n FROM devices GROUP BY tags.place.region, status',
      [{ region: 'US', n: 1 }, { region: 'DE', n: 1 }, { region: 'US', n: 1 }, { n: 1 }],
    ],
    ['SELECT TOP 2 deviceId FROM devices', 'd1 d2'],
  ])('%s', (query, rows) => {
    const expected = typeof rows === 'string' ? rows.split(' ').map((deviceId) => ({ deviceId })) : rows;
    expect(select(query).items.map((row) => ({ ...row }))).toEqual(expected);
  });
  test.each([
    ['SELECT deviceId FROM devices', ['d1 d2', 'd3 d4']],
    ["SELECT deviceId FROM devices WHERE tags.place.region = 'US'", ['d1 d3']],
    ["SELECT deviceId FROM devices WHERE deviceId != 'd2'", ['d1 d3', 'd4']],
    ['SELECT TOP 3 deviceId FROM devices', ['d1 d2', 'd3']],
    ['SELECT deviceId, COUNT() AS n FROM devices GROUP BY deviceId', ['d1 d2', 'd3 d4']],
  ])('%s in pages', (query, pages) => {
    const found: string[] = [];
    let after: string | undefined;
    do {
      const { items, continuation } = select(query, '2', after);
      found.push(items.map(({ deviceId }) => deviceId).join(' '));
      after = continuation;
    } while (after !== undefined);
    expect(found).toEqual(pages);
  });
});

test.each([
  ['', 'The query ends at character 1, where SELECT is expected.'],
  ['DELETE FROM devices', 'The query has "DELETE" at character 1, where SELECT is expected.'],
  ['SELECT FROM devices', 'has "FROM" at character 8, where a name is expected.'],
  ['SELECT * FROM twins', 'has "twins" at character 15, where DEVICES is expected.'],
  ['SELECT * FROM devices.jobs', 'is about jobs at character 23, which this hub does not imitate.'],
  ['SELECT * FROM devices.', 'ends at character 23, where MODULES is expected.'],
  ['SELECT * FROM devices; DROP', 'has "DROP" at character 24, where the end is expected.'],
  ['SELECT * FROM devices WHERE', 'ends at character 28, where a name is expected.'],
  ['SELECT * FROM devices WHERE tags.group = 1', 'has "group" at character 34, where a name is expected.'],
  ['SELECT * FROM devices WHERE a == 1', 'has "=" at character 32, where a name is expected.'],
  ['SELECT * FROM devices WHERE a = 1 = 1', 'has "=" at character 35, where the end is expected.'],
  ['SELECT * FROM devices WHERE (a = 1', 'ends at character 35, where ) is expected.'],
  ["SELECT * FROM devices WHERE a = 'x", 'has a text without an end at character 33.'],
  [String.raw`SELECT * FROM devices WHERE a = '\n'`, String.raw`has "\\n" at character 34, which is no escape.`],
  ['SELECT * FROM devices WHERE a IN []', 'has "]" at character 35, where a constant is expected.'],
  ["SELECT * FROM devices WHERE a IN [-'b']", 'has "\'b\'" at character 36, where a constant is expected.'],
  ['SELECT * FROM devices WHERE a IN tags.b', 'has "tags" at character 34, where [ is expected.'],
  ["SELECT * FROM devices WHERE STARTS_WITH(a, 'b')", 'calls "STARTS_WITH" at character 29;'],
  ['SELECT * FROM devices WHERE STARTSWITH(a)', 'has ")" at character 41, where , is expected.'],
  [`SELECT * FROM devices WHERE ${'STARTSWITH('.repeat(700)}`, 'is nested more than 100 deep'],
  ['SELECT * FROM devices WHERE is_defined(1)', 'has "1" at character 40, where a name is expected.'],
  ['SELECT TOP x * FROM devices', 'has "x" at character 12, where a whole number is expected.'],
  ['SELECT TOP 1.5 * FROM devices', 'has "1.5" at character 12, where a whole number is expected.'],
  ['SELECT COUNT() FROM devices', 'has "FROM" at character 16, where AS is expected.'],
  ['SELECT LENGTH(a) AS b FROM devices', 'selects the function "LENGTH" at character 8;'],
  ['SELECT a, COUNT() AS n FROM devices', 'selects at character 8 what it does not group by.'],
  ['SELECT a, b AS a FROM devices', 'has two columns "a".'],
  ['SELECT * FROM devices GROUP BY status', 'selects columns, not *.'],
  ['SELECT * FROM devices ORDER BY a', 'has "ORDER" at character 23, where the end'],
  ['SELECT * FROM devices WHERE ä = §', 'has "§" at character 33, where a name is expected.'],
  [`SELECT * FROM devices WHERE ${'('.repeat(8000)}`, 'is nested more than 100 deep at character 130.'],
  [`SELECT * FROM devices WHERE ${'NOT '.repeat(2000)}a`, 'is nested more than 100 deep'],
  [`SELECT * FROM devices WHERE ${'-'.repeat(8000)}1`, 'is nested more than 100 deep'],
  [`SELECT * FROM ${'x'.repeat(8000)}`, `has "${'x'.repeat(40)}" at character 15`],
  [`SELECT * FROM ${'x'.repeat(1_000_000)}`, 'A query has 8192 characters at most.'],
])('a query is refused %.60s', (query, message) => expect(() => parseQuery(query)).toThrow(argumentError(message)));

describe('a page', () => {
  const all = Array.from({ length: 2500 }, (_, i) => i);

  test('has the requested number of items, a hundred by default, and a thousand at most', () => {
    expect(pageOf(all, rangeOf(undefined, '2'))).toEqual({ items: [0, 1], continuation: '2' });
    expect(pageOf(all, rangeOf(undefined, undefined)).items).toHaveLength(100);
    expect(pageOf(all, rangeOf(undefined, '100000')).items).toHaveLength(1000);
  });
  test('begins where the previous one ended, and the last has no continuation', () => {
    expect(pageOf(all, rangeOf('100', undefined))).toMatchObject({ items: all.slice(100, 200), continuation: '200' });
    expect(pageOf(all, rangeOf('2450', undefined))).toEqual({ items: all.slice(2450), continuation: undefined });
    expect(pageOf(all, rangeOf('9999', undefined))).toEqual({ items: [], continuation: undefined });
  });
  test.each(['-1', '1.5', '1e3', 'x', '9'.repeat(30)])('is refused with the continuation %s', (continuation) =>
    expect(() => rangeOf(continuation, undefined)).toThrow(argumentError('The continuation of a query')),
  );
  test.each(['-1', '0', '1.5', 'x', '9'.repeat(30)])('is refused with a size of %s', (count) =>
    expect(() => rangeOf(undefined, count)).toThrow(argumentError('The number of items of a query')),
  );
});

describe('the registry client', () => {
  const hub = hubForAll({ devices: ['a', 'b', 'c'].map((deviceId) => ({ deviceId })) });
  beforeAll(() => {
    for (const [deviceId, region] of Object.entries({ a: 'US', b: 'DE', c: 'US' }))
      hub.twins.change(deviceId, { tags: { region } });
    hub.registry.create('b', { moduleId: 'camera' });
    hub.twins.report('b/camera', { state: 'scanning' });
  });
  const all = async (query: string, size?: number) => {
    const asked = registryClient(hub, 'service').createQuery(query, size);
    const rows: unknown[] = [];
    while (asked.hasMoreResults) {
      const { result } = (await asked.next(asked.continuationToken as never)) as unknown as { result: unknown[] };
      rows.push(...result);
    }
    return rows;
  };

  test('gets twins and rows of devices and modules, page by page', async () => {
    expect(await all("SELECT * FROM devices WHERE tags.region = 'US'", 1)).toMatchObject([
      { deviceId: 'a', tags: { region: 'US' }, authenticationType: 'sas' },
      { deviceId: 'c', properties: { reported: { $version: 1 } } },
    ]);
    expect(
      await all("SELECT deviceId, moduleId FROM devices.modules WHERE properties.reported.state = 'scanning'"),
    ).toEqual([{ deviceId: 'b', moduleId: 'camera' }]);
    expect(await all('SELECT tags.region AS region, COUNT() AS n FROM devices GROUP BY tags.region', 1)).toEqual([
      { region: 'US', n: 2 },
      { region: 'DE', n: 1 },
    ]);
  });
});
