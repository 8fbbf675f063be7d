import { setTimeout as sleep } from 'node:timers/promises';
import { parseMetrics } from '../../test/support/prom.ts';
import type { Scrapes } from './series.ts';

export interface Scraper {
  readonly scrapes: Scrapes;
  /**
   * Asks so many times.
   * @param everyMs real time between two scrapes, which are a minute apart where they are played (D388)
   */
  scrape(count: number, everyMs?: number): Promise<void>;
}

/** A start takes seconds, not minutes: no more scrapes without an answer follow each other. */
const mostMissed = 2;

export function createScraper(url: string): Scraper {
  const scrapes: Scrapes[number][] = [];
  return {
    scrapes,
    async scrape(count, everyMs = 250) {
      for (let index = 0; index < count; index += 1) {
        const scraped = await scrapeOnce(url);
        if (scraped !== undefined || scrapes.slice(-mostMissed).some((one) => one !== undefined)) scrapes.push(scraped);
        await sleep(everyMs);
      }
    },
  };
}

async function scrapeOnce(url: string): Promise<Scrapes[number]> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return response.ok ? parseMetrics(await response.text()) : undefined;
  } catch {
    return undefined;
  }
}
