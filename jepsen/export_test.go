package jepsen

// RunCoverWith makes the cover's runs with something that makes none.
var RunCoverWith = runCover
