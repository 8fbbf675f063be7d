import { fits, maxReplyBytes, type Reply } from './c2d.ts';
import { shortened } from './details.ts';
import type { Result } from './result.ts';

/** Most characters of shortened texts. */
const ofDetails = 256;
const ofRelatedDetails = 64;

/** Related models beyond this size as plain JSON are dropped without trying to compress them. */
const mostPlainBytes = 8 * maxReplyBytes;

interface Related {
  readonly success: boolean;
  readonly details: string;
}

/**
 * The acknowledgement with as much of the result as the hub's limit allows. It first cuts `details`, then those of related
 * models, then empties these, then drops related models, successful ones first (C3, D32). The result may still be too large.
 * @param encode called with ever shorter results
 */
export function longestThatFits(result: Result, encode: (result: Result) => Reply): Reply {
  const whole = encode(result);
  if (fits(whole)) return whole;
  const short = { ...result, details: shortened(result.details, ofDetails) };
  const shorter = encode(short);
  const related = relatedOf(result);
  if (fits(shorter) || related.length === 0) return shorter;

  const withRelated = (relatedModels: readonly Related[], details = short.details): Reply =>
    encode({ ...short, details, fields: { ...short.fields, relatedModels } });
  const cutShort = withRelated(related.map((one) => ({ ...one, details: shortened(one.details, ofRelatedDetails) })));
  if (fits(cutShort)) return cutShort;
  const bare = related.map((one) => ({ ...one, details: '' }));
  const emptied = withRelated(bare);
  if (fits(emptied)) return emptied;

  const ordered = [...bare.filter(({ success }) => !success), ...bare.filter(({ success }) => success)];
  const keeping = (kept: number): Reply =>
    withRelated(ordered.slice(0, kept), sentenceOf(short.details, ordered, kept));
  let [most, tooMany] = [0, countWithin(ordered, mostPlainBytes)];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(keeping(middle))) most = middle;
    else tooMany = middle;
  }
  return keeping(most);
}

function relatedOf({ fields }: Result): readonly Related[] {
  const { relatedModels } = fields;
  return Array.isArray(relatedModels) ? relatedModels : [];
}

function sentenceOf(details: string, ordered: readonly Related[], kept: number): string {
  const leftOut = ordered.slice(kept);
  const failed = leftOut.filter(({ success }) => !success).length;
  const which = failed === 0 ? 'all of them successful' : `${failed} of them failed`;
  const sentence = `${leftOut.length} of ${ordered.length} related models are left out here, ${which}`;
  return details === '' ? sentence : `${details}; ${sentence}`;
}

/** The number of elements that fit into this number of bytes as JSON. */
function countWithin(elements: readonly unknown[], bytes: number): number {
  let left = bytes;
  const index = elements.findIndex((one) => {
    left -= Buffer.byteLength(JSON.stringify(one));
    return left < 0;
  });
  return index < 0 ? elements.length : index;
}
