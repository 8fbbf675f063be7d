import type { HubPorts, HubRules, Way } from 'iot-hub-emulator';
import type { Printer } from './terminal/print.ts';

interface SandboxPorts {
  hub?: Partial<HubPorts>;
  backends?: { informationModel?: number; typeRegistry?: number; principalManager?: number; admin?: number };
  service?: number;
  methods?: number;
  methodsHealth?: number;
  broker?: number;
  edgeHealth?: number;
  page?: number;
}

export interface SandboxOptions {
  /** Where state, keys, checkpoints and logs go; default `.sandbox` in the project. */
  directory?: string;
  /** Keeps what the backends store for the next sandbox in this directory; in memory when absent. */
  store?: 'file';
  /** 0 or absent: a free one. */
  ports?: SandboxPorts;
  /** `false` leaves the service out: its environment and port are prepared for one that is started by hand. */
  service?: boolean;
  /** The front door of remote methods and its storage of files: there, or only prepared for one that is started by hand; absent: neither. */
  methods?: 'running' | 'prepared';
  /** The device edge-1 with its broker, edge proxy and modules; only where the front door runs. */
  edge?: boolean;
  /** The web page of the sandbox; absent: there is none. */
  page?: boolean;
  /** A folder with a built service (`dist/main.js`, `node_modules`); default the project, which is built first. */
  serviceDirectory?: string;
  /** Default: as the image starts it. */
  serviceCommand?: readonly string[];
  /** The programs log lines for people instead of JSON. */
  prettyLog?: boolean;
  /** Added to the service's environment. */
  environment?: Readonly<Record<string, string>>;
  /** Added to the front door's. */
  methodsEnvironment?: Readonly<Record<string, string>>;
  /** Rules of the hub other than IoT Hub's; by default it throttles nothing. */
  hubRules?: HubRules;
  /** Consumer groups of the hub besides `$Default`, which is the service's. */
  consumerGroups?: readonly string[];
  /** Facts about the hub of which it has the contrary. */
  otherwise?: readonly Way[];
  printer?: Printer;
  /** Gives up while it starts. */
  signal?: AbortSignal;
}
