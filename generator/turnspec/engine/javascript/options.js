/** What a parser is told. */
export {};
