import { type Finding, findingsIn } from '@device-messaging/telemetry/check.ts';
import { type Openers, openersOf } from '../../../src/operations/openers.ts';
import { methodsProbes, serviceProbes } from '../../../src/operations/probes.ts';
import { type MethodsSettings, readMethodsSettings, type Settings } from '../../../src/settings/config.ts';
import { bearerToken, settingsWith } from '../../support/environment.ts';

type Environment = Readonly<Record<string, string>>;

export const serviceOf = (environment: Environment = {}) =>
  settingsWith({
    ...(environment['BACKENDS_TOKEN_URL'] === undefined && { BACKENDS_TOKEN: bearerToken }),
    ...environment,
  });

export const frontDoorOf = (environment: Environment = {}) =>
  readMethodsSettings(
    {
      ...{ HUB_SERVICE_CONNECTION_STRING: 'HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=a2V5' },
      ...{ BACKENDS_TOKEN: bearerToken, INFORMATION_MODEL_URL: 'http://im', TYPE_REGISTRY_URL: 'http://tr' },
      ...environment,
    },
    'no-such-directory',
  );

/** What one probe finds. @param replaced what it opens instead of the real one */
export async function tried(
  name: string,
  settings: Settings | MethodsSettings = serviceOf(),
  replaced: Partial<Openers> = {},
): Promise<readonly Finding[]> {
  const open: Openers = Object.assign(openersOf(settings), replaced);
  const said = await ('methods' in settings
    ? Promise.all(methodsProbes.filter((one) => one.name === name).map((one) => one.attempt(open, settings)))
    : Promise.all(serviceProbes.filter((one) => one.name === name).map((one) => one.attempt(open, settings))));
  return said.flatMap((one) => findingsIn(name, one));
}
