// Package tidy holds the rules of the house that a test can check. It has
// nothing but tests.
package tidy
