/** The token that a tab uses, and one that the person must accept first. */
export interface Tokens {
  use: string | undefined
  offered: string | undefined
}

/**
 * Decides between the token in the fragment of an address and the one that the tab keeps. If both differ, the one of the address is only offered: a link must not sign a person
 * in as another principal.
 */
export function decide(found: string | undefined, kept: string | undefined): Tokens {
  return kept && found && found !== kept ? { use: kept, offered: found } : { use: found || kept, offered: undefined }
}
