import type { FaultOf } from 'iot-hub-emulator';
import type { ModuleRequest } from '../edge/modules.ts';
import type { FrontDoorExchange } from '../invoke/call.ts';
import type { FoundObject } from '../invoke/find.ts';
import type { Pattern } from '../stories/pattern.ts';

/** One invocation of a remote method, what reaches the device, and what the application gets. */
export interface Invocation {
  /** A sentence about what happens. */
  title: string;
  /** The application that invokes, default the invoker. */
  caller?: 'invoker' | 'reader' | 'stranger' | 'expired';
  /** The path of its owner, or its name. */
  object: string;
  method: string;
  /** Sent as JSON. */
  body?: unknown;
  /** A fault of the hub meanwhile. */
  fault?: FaultOf<'method'>;
  /** Absent: no device may be called. */
  device?: {
    id: string;
    /** The payload of the direct method `invokeMethod`, without the members that all have. */
    receives: { readonly [member: string]: Pattern };
    /** What it does and answers. */
    answer(
      payload: ReceivedPayload,
    ): Promise<{ status: number; payload: unknown }> | { status: number; payload: unknown };
  };
  /** Absent: no module of the edge device may be called. */
  module?: { id: string; topic: RegExp; payload: Pattern };
  expected: { status: number; headers?: Readonly<Record<string, RegExp>>; body: Pattern };
  /** It is much like the one before, which is shown in full: this one is shown in few lines. */
  isRepeat?: boolean;
}

/** The members of a payload that a device of the demonstration reads. */
export interface ReceivedPayload {
  input?: Readonly<Record<string, unknown>>;
  files?: Readonly<Record<string, { url: string }>>;
}

/** What happened in one invocation, seen from the application and from the device. */
export interface InvocationResult {
  invocation: Invocation;
  object: Partial<FoundObject>;
  body: string;
  exchange: FrontDoorExchange;
  /** What the device received and what it answered; at most one. */
  deviceCalls: { payload: unknown; answer: unknown }[];
  /** What modules of the edge device received and replied. */
  moduleRequests: readonly ModuleRequest[];
  /** How this differs from what is expected; empty when it does not. */
  problems: string[];
}
