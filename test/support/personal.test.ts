import { expect, it } from 'vitest';
import { settingDocs } from '../../src/settings/config.ts';
import { removePersonal } from './personal.ts';

const left = (names: readonly string[]) => {
  const environment: NodeJS.ProcessEnv = Object.fromEntries(names.map((name) => [name, 'x']));
  removePersonal(environment);
  return Object.keys(environment);
};

it('no setting that a person has exported reaches a test, nor what libraries read', () => {
  const settings = settingDocs().flatMap(({ env }) => [env, `${env}_FILE`]);
  const others = ['https_proxy', 'all_proxy', 'ALL_PROXY', 'OTEL_METRICS_EXPORTER', 'AZURE_CLIENT_ID', 'INIT_CWD'];
  expect(settings.length).toBeGreaterThan(100);
  expect(left([...settings, ...others, 'DEVICE_CONNECTION_STRING', 'EDGE_PROXY_CONFIG', 'BUILD_COMMIT'])).toEqual([]);
  expect(settings.filter((name) => name in process.env)).toEqual([]);
});

it('what a machine and the tests need stays', () => {
  const needed = [
    ...['PATH', 'HOME', 'TMPDIR', 'CI', 'NODE_ENV', 'VITEST', 'TEST_SEED', 'BROWSER_PROGRAM', 'npm_config_registry'],
  ];
  expect(left(needed)).toEqual(needed);
});
