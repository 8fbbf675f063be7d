import type { AccountAccess } from '../../src/identity/access.ts';
import { abortOf, accessTo, type HttpRequest, memoryAccount } from '../support/memoryAccount.ts';
import { type Counts, createCounts } from './coverage.ts';
import { overNetwork, type Process } from './process.ts';
import type { VirtualTime } from './virtualTime.ts';

/** A storage account in memory. */
export interface Account {
  accessFrom(process: Process): AccountAccess;
  readonly requests: Counts;
  /** Requests that it has refused because there were too many. */
  readonly refused: Counts;
  /** How long a request takes, in milliseconds. */
  takesMs: number;
  /** More requests a second are refused. */
  mostPerSecond: number;
  /** Of all requests, this share is refused, as when others use the account up. */
  refusedShare: number;
}

/** @param clockAheadMs of the account's clock, to that of the world */
export function createAccount(time: VirtualTime, clockAheadMs: number): Account {
  const requests = createCounts(time.now);
  const refused = createCounts(time.now);
  const memory = memoryAccount(() => time.outside(() => Date.now() + clockAheadMs));

  const account: Account = {
    ...{ requests, refused, takesMs: 8, mostPerSecond: Number.POSITIVE_INFINITY, refusedShare: 0 },
    accessFrom: (process) =>
      accessTo((request) => {
        requests.count();
        const isCut = () => process.isCutFrom.storage;
        const answered = overNetwork(account.takesMs, isCut, () => time.outside(() => answerTo(request)));
        return Promise.race([answered, abortOf(request)]);
      }),
  };

  function answerTo(request: HttpRequest) {
    const isOthersTurn = account.refusedShare > 0 && Math.random() < account.refusedShare;
    if (!isOthersTurn && requests.inSecond(refused) <= account.mostPerSecond) return memory.answer(request);
    refused.count();
    return memory.refusal(request, 503, 'ServerBusy');
  }

  return account;
}
