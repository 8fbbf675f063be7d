import type { FaultOf } from '../hub/faults/schema.ts';
import type { Pattern } from './pattern.ts';

/** One invocation of a remote method, what reaches the device, and what the application gets. */
export interface Invocation {
  /** A sentence about what happens. */
  title: string;
  /** Who asks; the invoker unless said otherwise. */
  caller?: 'invoker' | 'reader' | 'stranger' | 'expired';
  /** The path of its owner, or its name. */
  object: string;
  method: string;
  /** Sent as JSON. */
  body?: unknown;
  /** What goes wrong at the hub meanwhile. */
  fault?: FaultOf<'method'>;
  /** Absent: no device may be asked. */
  device?: {
    id: string;
    /** The payload of the direct method `invokeMethod`, but for the members that every one has. */
    receives: { readonly [member: string]: Pattern };
    /** What it does and answers. */
    answer(payload: Received): Promise<{ status: number; payload: unknown }> | { status: number; payload: unknown };
  };
  /** Absent: no module of the edge device may be asked. */
  module?: { id: string; topic: RegExp; payload: Pattern };
  expected: { status: number; headers?: Readonly<Record<string, RegExp>>; body: Pattern };
  /** Says the same as the one before, which was shown in full: this one is shown in few lines. */
  isRepeat?: boolean;
}

/** The members of a payload that a device of the demonstration reads. */
export interface Received {
  input?: Readonly<Record<string, unknown>>;
  files?: Readonly<Record<string, { url: string }>>;
}
