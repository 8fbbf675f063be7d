import { parseArgs } from 'node:util';

export const help = `Passes method invocations from an Azure IoT Hub to the modules of an edge
device.

Usage: node dist/main.js [options]

  --config <file>   Configuration file, JSON with comments. Default: the
                    environment variable EDGE_PROXY_CONFIG, else
                    /config/edge-proxy.jsonc
  --check-config    Check the configuration, print its problems, and exit
  --check           Try all that the proxy needs: configuration, hub, broker,
                    folders of modules. Takes nothing from a running proxy
  --json            With --check: one JSON document
  --init            With --check: an outage warns, for an init container
  --help            Show this help
`;

const defaultFile = '/config/edge-proxy.jsonc';

export interface Options {
  readonly config: string;
  readonly isCheckOnly: boolean;
  /** Undefined: no check. */
  readonly check: { readonly isJson: boolean; readonly isInit: boolean } | undefined;
  readonly isHelp: boolean;
}

/** @throws TypeError that names the wrong option */
export function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: 'string' },
      'check-config': { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      init: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { check, json: isJson, init: isInit } = values;
  if (!check && (isJson || isInit)) throw new TypeError('--json and --init need --check');
  return {
    check: check ? { isJson, isInit } : undefined,
    config: values.config ?? (environment['EDGE_PROXY_CONFIG'] || defaultFile),
    isCheckOnly: values['check-config'],
    isHelp: values.help,
  };
}
