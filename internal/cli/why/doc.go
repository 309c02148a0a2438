// Package why implements `hookctl why`, which shows one decision on one screen.
package why
