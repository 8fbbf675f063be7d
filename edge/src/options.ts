import { parseArgs } from 'node:util';

export const help = `Passes method invocations from an Azure IoT Hub to the modules of an edge
device.

Usage: node dist/main.js [options]

  --config <file>   Configuration file, JSON with comments. Default: the
                    environment variable EDGE_PROXY_CONFIG, else
                    /config/edge-proxy.jsonc
  --check-config    Check the configuration, print its problems, and exit
  --help            Show this help
`;

const defaultFile = '/config/edge-proxy.jsonc';

export interface Options {
  readonly config: string;
  readonly isCheckOnly: boolean;
  readonly isHelp: boolean;
}

/** @throws TypeError that names the wrong option */
export function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: 'string' },
      'check-config': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return {
    config: values.config ?? (environment['EDGE_PROXY_CONFIG'] || defaultFile),
    isCheckOnly: values['check-config'],
    isHelp: values.help,
  };
}
