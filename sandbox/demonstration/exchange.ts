import type { Hub } from 'iot-hub-emulator';
import type { Backends } from '../backends/backends.ts';
import type { BackendCall } from '../backends/calls/calls.ts';
import type { Device, Reply } from '../device/device.ts';
import type { ModuleRequest } from '../edge/modules.ts';
import type { SandboxState } from '../state/state.ts';
import type { Example } from '../stories/story.ts';

/** What a demonstration uses of a sandbox. */
export interface DemonstratedSandbox {
  readonly state: SandboxState;
  readonly hub: Hub;
  readonly backends: Backends;
  readonly edge: { readonly requests: readonly ModuleRequest[] } | undefined;
  connect(deviceId: string): Promise<Device>;
}

/** What the demonstration has to say about what stands in the journal. */
export interface Told {
  /** Of the first entry. */
  readonly position: number;
  /** A sentence about what happens. */
  readonly title: string;
  /** Of an invocation, which the journal does not have: the method, and the status that the application got. */
  readonly method?: string;
  readonly status?: number;
  /** How it differs from what is expected. */
  readonly problems: readonly string[];
}

/** What happened with one example, seen from the device and from the backends. */
export interface Exchange {
  example: Example;
  sent: { properties: Readonly<Record<string, string>>; body: Buffer };
  calls: BackendCall[];
  replies: Reply[];
  /** How this differs from what the story says; empty when it does not. */
  problems: string[];
}
