// Package manager applies the ops on the managers of instances, and answers the reads
// of them. A manager says how the instances of one kind are kept.
package manager
